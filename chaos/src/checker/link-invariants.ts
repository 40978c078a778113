import type { InvariantCode } from './invariants.ts';
import type { LinkRow } from './link-rows.ts';
import type { PayinRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const EVENT: Readonly<Record<string, string>> = {
  COMPLETED: 'paymentlink.completed',
  EXPIRED: 'paymentlink.expired',
};

const NO_ORIGIN: InvariantCode = 'no_unexplained_records';

/** A link exists as acknowledged, has one open attempt at a time, ends once, and has one event for its end. */
export function linkViolations(world: World): Violation[] {
  const { rows } = world;
  const payinsByLink = Map.groupBy(
    rows.payins.filter(({ linkId }) => linkId !== null),
    ({ linkId }) => linkId ?? '',
  );
  return [
    ...creationViolations(world),
    ...acknowledgmentViolations(world),
    ...rows.links.all.flatMap((link) => [
      ...eventViolations(world, link),
      ...completionViolations(link, payinsByLink.get(link.id) ?? []),
      ...attemptViolations(world, link, payinsByLink.get(link.id) ?? []),
    ]),
    ...[...payinsByLink.values()].flat().flatMap((payin) => payinViolations(world, payin)),
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

/** Only a payin that is credited to the merchant completes its link. */
function completionViolations(link: LinkRow, payins: readonly PayinRow[]): Violation[] {
  const invariant: InvariantCode = 'link_completed_by_one_payin';
  const settling = payins.filter(({ settlement }) => settlement !== null);
  const row = { link, settling };
  if (link.status !== 'COMPLETED')
    return settling.length === 0 && link.payinId === null
      ? []
      : [{ invariant, detail: `${link.status} although its amount was paid`, row }];
  if (settling.length !== 1) return [{ invariant, detail: `completed by ${settling.length} payins`, row }];
  const [payin] = settling;
  if (payin?.id !== link.payinId) return [{ invariant, detail: 'completed by another payin', row }];
  const enough = payin.status === 'CONFIRMED' && (payin.confirmed ?? 0n) >= link.amount;
  return enough ? [] : [{ invariant, detail: 'completed by less than its amount', row }];
}

function attemptViolations({ rows }: World, link: LinkRow, payins: readonly PayinRow[]): Violation[] {
  const invariant: InvariantCode = 'one_open_attempt_per_link';
  const open = payins.filter(({ status }) => !FINAL.has(status));
  const row = { link, open };
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row }];
  if (link.status !== 'PENDING' && (link.openPayinId !== null || open.length > 0))
    return wrong(`${link.status} with an open attempt`);
  if (open.length > 1) return wrong(`${open.length} open attempts`);
  const [attempt] = open;
  if (attempt)
    return attempt.id === link.openPayinId ? [] : wrong('the link does not reference its open attempt');
  if (link.openPayinId === null) return [];
  const held = rows.payinById.get(link.openPayinId);
  return wrong(
    held?.linkId === link.id
      ? 'the link references an ended attempt'
      : 'the link references a payin that is not its attempt',
  );
}

const NO_EVENT: InvariantCode = 'link_payin_has_no_event';
const AUTHORIZED: InvariantCode = 'payer_details_authorized';

function payinViolations({ rows }: World, payin: PayinRow): Violation[] {
  const link = rows.links.byId.get(payin.linkId ?? '');
  const row = { payin, link };
  const fits =
    link?.organizationId === payin.organizationId &&
    link.amount === payin.amount &&
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
    const link = event?.resource === 'paymentlink' ? rows.links.byId.get(event.resourceId) : undefined;
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
