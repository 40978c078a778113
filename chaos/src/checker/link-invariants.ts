import type { LinkRow } from './link-rows.ts';
import type { PayinRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const EVENT: Readonly<Record<string, string>> = {
  COMPLETED: 'paymentlink.completed',
  EXPIRED: 'paymentlink.expired',
};

const NOWHERE = 'nothing from nowhere';

/** A link is there as it was promised, is tried once at a time, ends once, and tells of its end and of nothing else. */
export function linkViolations(world: World): Violation[] {
  const { rows } = world;
  const payinsOf = Map.groupBy(
    rows.payins.filter(({ linkId }) => linkId !== null),
    ({ linkId }) => linkId ?? '',
  );
  return [
    ...creationViolations(world),
    ...promisedViolations(world),
    ...rows.links.all.flatMap((link) => [
      ...eventViolations(world, link),
      ...completionViolations(link, payinsOf.get(link.id) ?? []),
      ...attemptViolations(world, link, payinsOf.get(link.id) ?? []),
    ]),
    ...[...payinsOf.values()].flat().flatMap((payin) => payinViolations(world, payin)),
    ...payloadViolations(world),
    ...restViolations(world),
  ];
}

function creationViolations({ told, rows }: World): Violation[] {
  const promise = 'every link exists as told, once';
  const name = (of: { organizationId: string; reference: string }) => `${of.organizationId} ${of.reference}`;
  const asked = new Set(told.links.sent.map((sent) => `${name(sent)} ${sent.amountInCents}`));
  const holders = new Map(rows.links.references.map((row) => [name(row), row.linkId]));
  const byKey = Map.groupBy(
    told.links.created,
    ({ organizationId, idempotencyKey }) => `${organizationId} ${idempotencyKey}`,
  );
  return [
    ...told.links.created.flatMap((created): Violation[] => {
      const row = rows.links.byId.get(created.linkId);
      if (!row) return [{ promise, what: 'a link that was promised is gone', row: created }];
      const same =
        name(row) === name(created) &&
        row.amount === BigInt(created.amountInCents) &&
        row.hasCustomer === created.hasCustomer;
      return same ? [] : [{ promise, what: 'a link is not what was promised', row: { created, row } }];
    }),
    ...[...byKey.values()]
      .filter((same) => new Set(same.map(({ linkId }) => linkId)).size > 1)
      .map((row) => ({ promise, what: 'a repeat was told another link', row })),
    ...rows.links.all
      .filter((link) => holders.get(name(link)) !== link.id)
      .map((row) => ({ promise, what: 'a link does not hold its reference', row })),
    ...rows.links.references
      .filter(({ linkId }) => !rows.links.byId.has(linkId))
      .map((row) => ({ promise, what: 'a reference is held by no link', row })),
    ...rows.links.all
      .filter((link) => !asked.has(`${name(link)} ${link.amount}`))
      .map((row) => ({ promise: NOWHERE, what: 'a link that nobody asked for', row })),
    ...[...rows.links.eventsOf, ...rows.links.finalEventsOf]
      .filter(([linkId]) => !rows.links.byId.has(linkId))
      .map(([, row]) => ({ promise: NOWHERE, what: 'an event of no link', row })),
  ];
}

/** What payers and merchants were told of a link holds. */
function promisedViolations({ told, rows }: World): Violation[] {
  return [
    ...told.links.begun
      .filter(({ linkId, payinId }) => rows.payinById.get(payinId)?.linkId !== linkId)
      .map((row) => ({ promise: 'an attempt that was begun is kept', what: 'it is not there', row })),
    ...told.links.closed
      .filter((linkId) => rows.links.byId.get(linkId)?.shut !== true)
      .map((linkId) => ({ promise: 'a closed link stays closed', what: 'it can be paid', row: { linkId } })),
  ];
}

function eventViolations({ rows }: World, link: LinkRow): Violation[] {
  const promise = 'a link tells of its one end';
  const events = rows.links.eventsOf.get(link.id) ?? [];
  const finals = rows.links.finalEventsOf.get(link.id) ?? [];
  const expected = EVENT[link.status];
  const row = { link, events, finals };
  const count = expected === undefined ? 0 : 1;
  if (events.length !== count || finals.length !== count)
    return [
      {
        promise,
        what: `${link.status} with ${events.length} events and ${finals.length} final events`,
        row,
      },
    ];
  const [event] = events;
  const [final] = finals;
  if (event?.event !== expected) return [{ promise, what: `${link.status} told as ${event?.event}`, row }];
  return final?.event === expected && final?.id === event?.id
    ? []
    : [{ promise, what: 'its final event is another', row }];
}

/** A payin that became the merchant's completes its link, and nothing else does. */
function completionViolations(link: LinkRow, payins: readonly PayinRow[]): Violation[] {
  const promise = 'completed by the one payin that brought the amount';
  const brought = payins.filter(({ settlement }) => settlement !== null);
  const row = { link, brought };
  if (link.status !== 'COMPLETED')
    return brought.length === 0 && link.payinId === null
      ? []
      : [{ promise, what: `${link.status}, though its amount came`, row }];
  if (brought.length !== 1) return [{ promise, what: `completed by ${brought.length} payins`, row }];
  const [payin] = brought;
  if (payin?.id !== link.payinId) return [{ promise, what: 'completed by another payin', row }];
  const enough = payin.status === 'CONFIRMED' && (payin.confirmed ?? 0n) >= link.amount;
  return enough ? [] : [{ promise, what: 'completed by less than its amount', row }];
}

function attemptViolations({ rows }: World, link: LinkRow, payins: readonly PayinRow[]): Violation[] {
  const promise = 'one attempt at a time';
  const open = payins.filter(({ status }) => !FINAL.has(status));
  const row = { link, open };
  const wrong = (what: string) => [{ promise, what, row }];
  if (link.status !== 'PENDING' && (link.openPayinId !== null || open.length > 0))
    return wrong(`${link.status}, and an attempt is under way`);
  if (open.length > 1) return wrong(`${open.length} attempts are under way`);
  const [attempt] = open;
  if (attempt) return attempt.id === link.openPayinId ? [] : wrong('an attempt that its link does not know');
  if (link.openPayinId === null) return [];
  const held = rows.payinById.get(link.openPayinId);
  return wrong(
    held?.linkId === link.id ? 'it waits for an attempt that has ended' : 'it waits for what is no attempt',
  );
}

function payinViolations({ rows }: World, payin: PayinRow): Violation[] {
  const link = rows.links.byId.get(payin.linkId ?? '');
  const row = { payin, link };
  const fits =
    link?.organizationId === payin.organizationId &&
    link.amount === payin.amount &&
    link.reference === payin.reference;
  if (!fits) return [{ promise: NOWHERE, what: 'an attempt at no link, or at another amount', row }];
  const events = [...(rows.eventsOf.get(payin.id) ?? []), ...(rows.finalEventsOf.get(payin.id) ?? [])];
  return [
    ...(events.length === 0
      ? []
      : [
          { promise: 'a payin of a link tells of nothing', what: 'it has an event', row: { ...row, events } },
        ]),
    ...(rows.links.authorized.has(payin.id) === !link.hasCustomer
      ? []
      : [{ promise: 'what a payer types is authorized', what: 'details and authorization differ', row }]),
  ];
}

/** interface.md, payload of the events of links; what was sent is the only witness of it. */
function payloadViolations({ rows, sinks }: World): Violation[] {
  const promise = 'the event of a link says what the interface says';
  return sinks.before.flatMap((received) => {
    const event = rows.webhooks.eventById.get(received.id);
    const link = event?.resource === 'paymentlink' ? rows.links.byId.get(event.resourceId) : undefined;
    if (!link) return [];
    const body = JSON.parse(sinks.bodies.get(received.bodyHash) ?? '{}') as { data?: object };
    const expected = payloadOf(link);
    const same = JSON.stringify(body.data) === JSON.stringify(expected);
    return same ? [] : [{ promise, what: 'it says something else', row: { said: body.data, expected } }];
  });
}

function payloadOf(link: LinkRow): object {
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
  };
}

function restViolations({ rows, drained }: World): Violation[] {
  if (!drained) return [];
  return rows.links.all
    .filter(({ status, shut }) => status === 'PENDING' && shut)
    .map((row) => ({ promise: 'everything comes to its end', what: 'a link is open past its time', row }));
}
