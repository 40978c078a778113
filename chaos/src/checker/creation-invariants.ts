import type { InvariantCode } from './invariants.ts';
import { FINAL, type Violation, type World } from './world.ts';

/** Every acknowledged payin exists once, and no record exists that no client requested. */
export function creationViolations(world: World): Violation[] {
  return [
    ...createdExists(world),
    ...oneAnswerPerIdempotencyKey(world),
    ...oneReference(world),
    ...everyPayinWasSent(world),
    ...orphanViolations(world),
    ...orderViolations(world),
  ];
}

function createdExists({ client, rows }: World): Violation[] {
  return client.created.flatMap(({ sent, payin }): Violation[] => {
    const invariant: InvariantCode = 'created_payin_exists';
    const row = rows.payinById.get(payin.id);
    if (!row) return [{ invariant, detail: 'an acknowledged payin is missing', row: payin }];
    const matches =
      row.organizationId === sent.organizationId &&
      row.reference === payin.reference &&
      row.amount === BigInt(payin.amountInCents) &&
      row.rail === payin.rail &&
      row.key === payin.key &&
      payin.reference === sent.reference;
    return matches
      ? []
      : [
          {
            invariant,
            detail: 'a payin differs from its acknowledgment',
            row: { acknowledged: payin, row },
          },
        ];
  });
}

function oneAnswerPerIdempotencyKey({ client }: World): Violation[] {
  const invariant: InvariantCode = 'one_payin_per_idempotency_key';
  const keyed = client.created.filter(({ sent }) => sent.idempotencyKey !== null);
  const byKey = Map.groupBy(keyed, ({ sent }) => `${sent.organizationId} ${sent.idempotencyKey}`);
  return [...byKey].flatMap(([key, answers]) => {
    const ids = new Set(answers.map(({ payin }) => payin.id));
    const bodies = new Set(answers.map(({ sent }) => sent.bodyHash));
    if (ids.size > 1)
      return [{ invariant, detail: 'a repeat returned another payin', row: { key, ids: [...ids] } }];
    return bodies.size > 1
      ? [{ invariant, detail: 'an idempotency key was accepted with another body', row: { key } }]
      : [];
  });
}

function oneReference({ rows }: World): Violation[] {
  const invariant: InvariantCode = 'one_payin_per_reference';
  const name = (row: { organizationId: string; reference: string }) =>
    `${row.organizationId} ${row.reference}`;
  const holders = new Map(rows.references.map((row) => [name(row), row.resourceId]));
  // An attempt of a link has the link's reference, and a link may have several attempts.
  const own = rows.payins.filter(({ linkId }) => linkId === null);
  const twice = [...Map.groupBy(own, name)].filter(([, payins]) => payins.length > 1);
  const unreserved = own.filter((payin) => holders.get(name(payin)) !== payin.id);
  const empty = rows.references.filter((row) => !rows.payinById.has(row.resourceId));
  return [
    ...twice.map(([, payins]) => ({
      invariant,
      detail: 'two payins with one reference',
      row: payins.map(({ id }) => id),
    })),
    ...unreserved.map((payin) => ({ invariant, detail: 'a payin does not hold its reference', row: payin })),
    ...empty.map((row) => ({ invariant, detail: 'a reference belongs to no payin', row })),
  ];
}

function everyPayinWasSent({ client, rows }: World): Violation[] {
  const requested = new Set(
    client.sent.map((s) => `${s.organizationId} ${s.reference} ${s.amountInCents} ${s.rail}`),
  );
  return rows.payins
    .filter((row) => row.linkId === null)
    .filter((row) => !requested.has(`${row.organizationId} ${row.reference} ${row.amount} ${row.rail}`))
    .map(
      (row): Violation => ({
        invariant: 'no_unexplained_records',
        detail: 'a payin that no client requested',
        row,
      }),
    );
}

function orphanViolations({ rows }: World): Violation[] {
  const orphans = (detail: string, owned: readonly { readonly payinId: string | null }[]) =>
    owned
      .filter(({ payinId }) => payinId !== null && !rows.payinById.has(payinId))
      .map((row): Violation => ({ invariant: 'no_unexplained_records', detail, row }));
  const named = (list: readonly { readonly resourceId: string | null }[]) =>
    list.map((row) => ({ ...row, payinId: row.resourceId }));
  const payments = rows.transfers.filter(({ causeKind }) => causeKind.startsWith('payment'));
  const createdKeys = new Map(rows.keys.map(({ payinId, key }) => [payinId, key]));
  const keyless = rows.payins.filter(({ rail, id, key }) => rail === 'BRE_B' && createdKeys.get(id) !== key);
  return [
    ...orphans('history without a payin', [...rows.historyByResource.values()].flat()),
    ...orphans('a key without a payin', rows.keys),
    ...orphans('an event without a payin', named([...rows.eventsByResource.values()].flat())),
    ...orphans('a final event without a payin', named([...rows.finalEventsByResource.values()].flat())),
    ...orphans('a payment without a payin', named(payments)),
    ...orphans('an anomaly without a payin', rows.anomalies),
    ...orphans(
      'an idempotency key without a resource',
      named(
        rows.idempotencyKeys.filter(
          ({ resourceId }) =>
            !rows.payouts.byId.has(resourceId) &&
            !rows.links.byId.has(resourceId) &&
            !rows.webhooks.endpointById.has(resourceId),
        ),
      ),
    ),
    ...keyless.map(
      (row): Violation => ({
        invariant: 'no_unexplained_records',
        detail: 'a payin whose key was never created',
        row,
      }),
    ),
  ];
}

/** Every order at a rail matches the payin whose reference it carries. */
function orderViolations({ rail, findOwner }: World): Violation[] {
  return rail.orders.flatMap((order) => {
    const payin = findOwner(order.rail, order.reference);
    // PSE gets the name of the shop before the reference.
    const fits =
      payin &&
      (order.rail === 'BRE_B' ? order.about === payin.id : order.about.endsWith(`: ${payin.reference}`));
    if (fits && payin.amount === order.cents) return [];
    const row = { ...order, cents: String(order.cents), payin };
    return [{ invariant: 'no_unexplained_records', detail: 'a rail order without a matching payin', row }];
  });
}

/** After draining: no payin open past its expiry, no unprocessed notice, no lease. */
export function pendingWorkViolations({ rows, rail, drained }: World): Violation[] {
  if (!drained) return [];
  const invariant: InvariantCode = 'no_pending_work';
  const unsent = [...rail.queued.values()].filter(({ noticeId }) => !rail.acknowledged.has(noticeId));
  return [
    ...rows.payins
      .filter((payin) => !FINAL.has(payin.status) && payin.expired)
      .map((row) => ({ invariant, detail: 'a payin is open past its expiry', row })),
    ...rows.payins
      .filter((payin) => payin.due)
      .map((row) => ({ invariant, detail: 'a status poll is still due', row })),
    ...rows.payins
      .filter((payin) => payin.leased)
      .map((row) => ({ invariant, detail: 'a payin is still leased', row })),
    ...rows.keys
      .filter((key) => key.leased || key.due)
      .map((row) => ({ invariant, detail: 'a key registration is still pending', row })),
    ...rows.notices
      .filter((notice) => notice.task !== null || notice.leased)
      .map((row) => ({ invariant, detail: 'a rail notice is still pending', row })),
    ...unsent.map((row) => ({ invariant, detail: 'a notice was never acknowledged', row })),
  ];
}
