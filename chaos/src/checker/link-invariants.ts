import type { InvariantCode } from './invariants.ts';
import { isUnderpaid } from './ledger-invariants.ts';
import type { LinkRow } from './link-rows.ts';
import type { PayinRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const EVENT: Readonly<Record<string, string>> = {
  COMPLETED: 'paymentlink.completed',
  EXPIRED: 'paymentlink.expired',
};

const NO_ORIGIN: InvariantCode = 'no_unexplained_records';

/** A link exists as acknowledged, has one open attempt per rail, ends once, and has one event for its end. */
export function linkViolations(world: World): Violation[] {
  const { rows } = world;
  const payinsByLink = Map.groupBy(
    rows.payins.filter(({ linkId }) => linkId !== null),
    ({ linkId }) => linkId ?? '',
  );
  const partsByLink = new Map(
    [...payinsByLink].map(([id, attempts]) => [id, sumConfirmed(attempts.filter(isUnderpaid))]),
  );
  return [
    ...creationViolations(world),
    ...acknowledgmentViolations(world),
    ...rows.links.all.flatMap((link) => [
      ...eventViolations(world, link),
      ...completionViolations(link, payinsByLink.get(link.id) ?? [], partsByLink.get(link.id) ?? 0n),
      ...attemptViolations(world, link, payinsByLink.get(link.id) ?? []),
    ]),
    ...partTransferViolations(world, partsByLink),
    ...[...payinsByLink.values()].flatMap((attempts) =>
      attempts.flatMap((payin) => payinViolations(world, payin, attempts)),
    ),
    ...payloadViolations(world),
    ...pendingViolations(world),
  ];
}

function creationViolations({ client, rows }: World): Violation[] {
  const invariant: InvariantCode = 'created_link_exists';
  const name = (of: { organizationId: string; reference: string }) => `${of.organizationId} ${of.reference}`;
  const requested = new Set(client.links.sent.map((sent) => `${name(sent)} ${sent.amountInCents}`));
  const holders = new Map(rows.links.references.map((row) => [name(row), row.linkId]));
  const byKey = Map.groupBy(
    client.links.created,
    ({ organizationId, idempotencyKey }) => `${organizationId} ${idempotencyKey}`,
  );
  return [
    ...client.links.created.flatMap((created): Violation[] => {
      const row = rows.links.byId.get(created.linkId);
      if (!row) return [{ invariant, detail: 'an acknowledged link is missing', row: created }];
      const same =
        name(row) === name(created) &&
        row.amount === BigInt(created.amountInCents) &&
        row.hasCustomer === created.hasCustomer;
      return same
        ? []
        : [{ invariant, detail: 'a link differs from its acknowledgment', row: { created, row } }];
    }),
    ...[...byKey.values()]
      .filter((same) => new Set(same.map(({ linkId }) => linkId)).size > 1)
      .map((row) => ({ invariant, detail: 'a repeat returned another link', row })),
    ...rows.links.all
      .filter((link) => holders.get(name(link)) !== link.id)
      .map((row) => ({ invariant, detail: 'a link does not hold its reference', row })),
    ...rows.links.references
      .filter(({ linkId }) => !rows.links.byId.has(linkId))
      .map((row) => ({ invariant, detail: 'a reference belongs to no link', row })),
    ...rows.links.all
      .filter((link) => !requested.has(`${name(link)} ${link.amount}`))
      .map((row) => ({ invariant: NO_ORIGIN, detail: 'a link that no client requested', row })),
    ...[...rows.links.eventsByResource, ...rows.links.finalEventsByResource]
      .filter(([linkId]) => !rows.links.byId.has(linkId))
      .map(([, row]) => ({ invariant: NO_ORIGIN, detail: 'an event without a link', row })),
  ];
}

/** Acknowledged attempts and closings of links hold. */
function acknowledgmentViolations({ client, rows }: World): Violation[] {
  return [
    ...client.links.started
      .filter(({ linkId, payinId }) => rows.payinById.get(payinId)?.linkId !== linkId)
      .map(
        (row): Violation => ({ invariant: 'started_attempt_exists', detail: 'the attempt is missing', row }),
      ),
    ...client.links.closed
      .filter((linkId) => rows.links.byId.get(linkId)?.shut !== true)
      .map(
        (linkId): Violation => ({
          invariant: 'closed_link_stays_closed',
          detail: 'the link can be paid',
          row: { linkId },
        }),
      ),
  ];
}

function eventViolations({ rows }: World, link: LinkRow): Violation[] {
  const invariant: InvariantCode = 'one_event_per_final_link';
  const events = rows.links.eventsByResource.get(link.id) ?? [];
  const finals = rows.links.finalEventsByResource.get(link.id) ?? [];
  const expected = EVENT[link.status];
  const row = { link, events, finals };
  const count = expected === undefined ? 0 : 1;
  if (events.length !== count || finals.length !== count)
    return [
      {
        invariant,
        detail: `${link.status} with ${events.length} events and ${finals.length} final events`,
        row,
      },
    ];
  const [event] = events;
  const [final] = finals;
  if (event?.event !== expected)
    return [{ invariant, detail: `${link.status} reported as ${event?.event}`, row }];
  return final?.event === expected && final?.id === event?.id
    ? []
    : [{ invariant, detail: 'the final event differs', row }];
}

/** A link is completed by the attempt with which the sum reaches its amount; the earlier parts settle with that attempt. */
function completionViolations(link: LinkRow, payins: readonly PayinRow[], parts: bigint): Violation[] {
  const invariant: InvariantCode = 'link_completed_by_sum';
  const settling = payins.filter(({ settlement }) => settlement !== null);
  const row = { link, settling, parts };
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row }];
  if (link.status !== 'COMPLETED') {
    if (settling.length > 0 || link.payinId !== null)
      return wrong(`${link.status} although its amount was paid`);
    return link.paid === parts && parts < link.amount ? [] : wrong('its sum differs from its attempts');
  }
  if (settling.length !== 1) return wrong(`completed by ${settling.length} payins`);
  const [payin] = settling;
  if (payin?.id !== link.payinId) return wrong('completed by another payin');
  if (payin.status !== 'CONFIRMED' || parts + (payin.confirmed ?? 0n) !== link.amount)
    return wrong('completed by another amount than its own');
  return link.paid === link.amount && (payin.earlierParts ?? 0n) === parts
    ? []
    : wrong('its sum differs from its attempts');
}

/** What earlier attempts received moves from suspense to the merchant once, when the link completes. */
function partTransferViolations({ rows }: World, partsByLink: ReadonlyMap<string, bigint>): Violation[] {
  const invariant: InvariantCode = 'link_parts_credited_once';
  const moved = Map.groupBy(
    rows.transfers.filter(({ causeKind }) => causeKind === 'link_parts'),
    ({ causeId }) => causeId,
  );
  const unknown = [...moved.keys()].filter((id) => !rows.links.byId.has(id));
  return [
    ...unknown.map((id) => ({ invariant, detail: 'parts of an unknown link were credited', row: { id } })),
    ...rows.links.all.flatMap((link): Violation[] => {
      const parts = partsByLink.get(link.id) ?? 0n;
      const transfers = moved.get(link.id) ?? [];
      const expected = link.status === 'COMPLETED' && parts > 0n ? 1 : 0;
      const right =
        transfers.length === expected &&
        transfers.every(
          ({ debit, credit, amount, resourceId }) =>
            debit === 'suspense' && credit === 'pending' && amount === parts && resourceId === link.payinId,
        );
      return right
        ? []
        : [{ invariant, detail: 'the parts were not credited once', row: { link, parts, transfers } }];
    }),
  ];
}

function attemptViolations({ rows }: World, link: LinkRow, payins: readonly PayinRow[]): Violation[] {
  const invariant: InvariantCode = 'one_open_attempt_per_rail';
  const open = payins.filter(({ status }) => !FINAL.has(status));
  const references = { BRE_B: link.openBrebPayinId, PSE: link.openPsePayinId };
  const row = { link, open };
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row }];
  const referenced = Object.values(references).filter((id) => id !== null);
  if (link.status === 'EXPIRED' && (referenced.length > 0 || open.length > 0))
    return wrong('EXPIRED with an open attempt');
  // The other attempt of a completed link may still be paid: its payment is an anomaly.
  if (link.status === 'COMPLETED')
    return referenced.length > 0 ? wrong('COMPLETED with an open attempt') : [];
  for (const rail of ['BRE_B', 'PSE'] as const) {
    const onRail = open.filter((payin) => payin.rail === rail);
    if (onRail.length > 1) return wrong(`${onRail.length} open attempts on ${rail}`);
    const [attempt] = onRail;
    const reference = references[rail];
    if (attempt && attempt.id !== reference) return wrong('the link does not reference its open attempt');
    if (attempt || reference === null) continue;
    const held = rows.payinById.get(reference);
    return wrong(
      held?.linkId === link.id
        ? 'the link references an ended attempt'
        : 'the link references a payin that is not its attempt',
    );
  }
  return [];
}

const NO_EVENT: InvariantCode = 'link_payin_has_no_event';
const AUTHORIZED: InvariantCode = 'payer_details_authorized';

/**
 * What a link may ask of an attempt: its amount, less the parts that it had received when the attempt started. An attempt
 * on the rail of a part starts after the part; attempts on the other rail may overlap.
 */
function requestedAmounts(
  amount: bigint,
  attempts: readonly PayinRow[],
  payin: PayinRow,
): ReadonlySet<bigint> {
  const parts = attempts
    .filter(isUnderpaid)
    .toSorted((a, b) => (a.resultAt?.getTime() ?? 0) - (b.resultAt?.getTime() ?? 0));
  const received = 1 + parts.findLastIndex(({ id, rail }) => rail === payin.rail && id < payin.id);
  const counts = Array.from({ length: parts.length + 1 - received }, (_, index) => received + index);
  return new Set(counts.map((count) => amount - sumConfirmed(parts.slice(0, count))));
}

function sumConfirmed(payins: readonly PayinRow[]): bigint {
  return payins.reduce((sum, { confirmed }) => sum + (confirmed ?? 0n), 0n);
}

function payinViolations({ rows }: World, payin: PayinRow, attempts: readonly PayinRow[]): Violation[] {
  const link = rows.links.byId.get(payin.linkId ?? '');
  const row = { payin, link };
  const fits =
    link?.organizationId === payin.organizationId &&
    requestedAmounts(link.amount, attempts, payin).has(payin.amount) &&
    link.reference === payin.reference;
  if (!fits)
    return [{ invariant: NO_ORIGIN, detail: 'an attempt without a link or with another amount', row }];
  const events = [
    ...(rows.eventsByResource.get(payin.id) ?? []),
    ...(rows.finalEventsByResource.get(payin.id) ?? []),
  ];
  // Only PSE needs details, and only if the merchant did not send them.
  const hasEnteredDetails = payin.rail === 'PSE' && !link.hasCustomer;
  return [
    ...(events.length === 0
      ? []
      : [{ invariant: NO_EVENT, detail: 'the payin has an event', row: { ...row, events } }]),
    ...(rows.links.authorized.has(payin.id) === hasEnteredDetails
      ? []
      : [{ invariant: AUTHORIZED, detail: 'payer details and authorization differ', row }]),
  ];
}

/** The payload of a link's event, which is known only from the sent requests, matches the link. */
function payloadViolations({ rows, sinks }: World): Violation[] {
  const invariant: InvariantCode = 'link_event_matches_link';
  return sinks.before.flatMap((received) => {
    const event = rows.webhooks.eventById.get(received.id);
    const link = event?.resource === 'paymentlink' ? rows.links.byId.get(event.resourceId ?? '') : undefined;
    if (!link) return [];
    const body = JSON.parse(sinks.bodies.get(received.bodyHash) ?? '{}') as { data?: object };
    const expected = expectedPayload(link);
    const same = JSON.stringify(body.data) === JSON.stringify(expected);
    return same
      ? []
      : [{ invariant, detail: 'the payload differs from the link', row: { actual: body.data, expected } }];
  });
}

function expectedPayload(link: LinkRow): object {
  const completed = link.status === 'COMPLETED';
  return {
    paymentLinkId: link.id,
    reference: link.reference,
    amount: Number(link.amount) / 100,
    currency: 'COP',
    status: link.status,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
    expiresAt: completed ? null : link.expiresAt.toISOString(),
    completedAt: link.completedAt?.toISOString() ?? null,
    metadata: {},
  };
}

function pendingViolations({ rows, drained }: World): Violation[] {
  if (!drained) return [];
  return rows.links.all
    .filter(({ status, shut }) => status === 'PENDING' && shut)
    .map(
      (row): Violation => ({ invariant: 'no_pending_work', detail: 'a link is open past its expiry', row }),
    );
}
