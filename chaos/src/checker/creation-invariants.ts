import { FINAL, type Violation, type World } from './world.ts';

/** What was promised at the creation is there, once, and nothing is there that nobody asked for. */
export function creationViolations(world: World): Violation[] {
  return [
    ...createdExists(world),
    ...oneAnswerPerKey(world),
    ...oneReference(world),
    ...everyPayinWasSent(world),
    ...everythingBelongsToAPayin(world),
    ...ordersAreOurs(world),
  ];
}

function createdExists({ told, rows }: World): Violation[] {
  return told.created.flatMap(({ sent, payin }): Violation[] => {
    const promise = 'every 201 exists as told';
    const row = rows.payinById.get(payin.id);
    if (!row) return [{ promise, what: 'a payin that was promised is gone', row: payin }];
    const asTold =
      row.organizationId === sent.organizationId &&
      row.reference === payin.reference &&
      row.amount === BigInt(payin.amountInCents) &&
      row.rail === payin.rail &&
      row.key === payin.key &&
      payin.reference === sent.reference;
    return asTold ? [] : [{ promise, what: 'a payin is not what was promised', row: { told: payin, row } }];
  });
}

function oneAnswerPerKey({ told }: World): Violation[] {
  const promise = 'one payin per idempotency key';
  const keyed = told.created.filter(({ sent }) => sent.idempotencyKey !== null);
  const byKey = Map.groupBy(keyed, ({ sent }) => `${sent.organizationId} ${sent.idempotencyKey}`);
  return [...byKey].flatMap(([key, answers]) => {
    const ids = new Set(answers.map(({ payin }) => payin.id));
    const bodies = new Set(answers.map(({ sent }) => sent.bodyHash));
    if (ids.size > 1)
      return [{ promise, what: 'a repeat was told another payin', row: { key, ids: [...ids] } }];
    return bodies.size > 1 ? [{ promise, what: 'a key was accepted with another body', row: { key } }] : [];
  });
}

function oneReference({ rows }: World): Violation[] {
  const promise = 'one payin per reference';
  const name = (row: { organizationId: string; reference: string }) =>
    `${row.organizationId} ${row.reference}`;
  const holders = new Map(rows.references.map((row) => [name(row), row.resourceId]));
  // An attempt at a link carries the link's, which may be tried again.
  const own = rows.payins.filter(({ linkId }) => linkId === null);
  const twice = [...Map.groupBy(own, name)].filter(([, payins]) => payins.length > 1);
  const unheld = own.filter((payin) => holders.get(name(payin)) !== payin.id);
  const empty = rows.references.filter((row) => !rows.payinById.has(row.resourceId));
  return [
    ...twice.map(([, payins]) => ({
      promise,
      what: 'two payins with one reference',
      row: payins.map(({ id }) => id),
    })),
    ...unheld.map((payin) => ({ promise, what: 'a payin does not hold its reference', row: payin })),
    ...empty.map((row) => ({ promise, what: 'a reference is held by no payin', row })),
  ];
}

function everyPayinWasSent({ told, rows }: World): Violation[] {
  const asked = new Set(
    told.sent.map((s) => `${s.organizationId} ${s.reference} ${s.amountInCents} ${s.rail}`),
  );
  return rows.payins
    .filter((row) => row.linkId === null)
    .filter((row) => !asked.has(`${row.organizationId} ${row.reference} ${row.amount} ${row.rail}`))
    .map((row) => ({ promise: 'nothing from nowhere', what: 'a payin that nobody asked for', row }));
}

function everythingBelongsToAPayin({ rows }: World): Violation[] {
  const orphans = (what: string, owned: readonly { readonly payinId: string | null }[]) =>
    owned
      .filter(({ payinId }) => payinId !== null && !rows.payinById.has(payinId))
      .map((row) => ({ promise: 'nothing from nowhere', what, row }));
  const named = (list: readonly { readonly resourceId: string | null }[]) =>
    list.map((row) => ({ ...row, payinId: row.resourceId }));
  const payments = rows.transfers.filter(({ causeKind }) => causeKind.startsWith('payment'));
  const minted = new Map(rows.keys.map(({ payinId, key }) => [payinId, key]));
  const keyless = rows.payins.filter(({ rail, id, key }) => rail === 'BRE_B' && minted.get(id) !== key);
  return [
    ...orphans('history of no payin', [...rows.historyOf.values()].flat()),
    ...orphans('a key of no payin', rows.keys),
    ...orphans('an event of no payin', named([...rows.eventsOf.values()].flat())),
    ...orphans('a final event of no payin', named([...rows.finalEventsOf.values()].flat())),
    ...orphans('a payment of no payin', named(payments)),
    ...orphans('an anomaly of no payin', rows.anomalies),
    ...orphans(
      'an idempotency key of nothing',
      named(
        rows.idempotencyKeys.filter(
          ({ resourceId }) =>
            !rows.payouts.byId.has(resourceId) &&
            !rows.links.byId.has(resourceId) &&
            !rows.webhooks.endpointById.has(resourceId),
        ),
      ),
    ),
    ...keyless.map((row) => ({
      promise: 'nothing from nowhere',
      what: 'a payin whose key was never minted',
      row,
    })),
  ];
}

/** What we ordered at a rail is what the merchant asked for, under the reference of that payin. */
function ordersAreOurs({ rail, ownerOf }: World): Violation[] {
  return rail.orders.flatMap((order) => {
    const payin = ownerOf(order.rail, order.reference);
    const about = order.rail === 'BRE_B' ? payin?.id : payin?.reference;
    if (payin && about === order.about && payin.amount === order.cents) return [];
    const row = { ...order, cents: String(order.cents), payin };
    return [{ promise: 'nothing from nowhere', what: 'an order at a rail that is no payin of ours', row }];
  });
}

/** No open payin past its time, no word of a rail unheard, nobody at work. */
export function drainedViolations({ rows, rail, drained }: World): Violation[] {
  if (!drained) return [];
  const promise = 'everything comes to its end';
  const unsent = [...rail.queued.values()].filter(({ noticeId }) => !rail.acknowledged.has(noticeId));
  return [
    ...rows.payins
      .filter((payin) => !FINAL.has(payin.status) && payin.expired)
      .map((row) => ({ promise, what: 'a payin is open past its expiry', row })),
    ...rows.payins
      .filter((payin) => payin.due)
      .map((row) => ({ promise, what: 'a question to a rail still waits', row })),
    ...rows.payins
      .filter((payin) => payin.claimed)
      .map((row) => ({ promise, what: 'a payin is still claimed', row })),
    ...rows.keys
      .filter((key) => key.claimed || key.due)
      .map((row) => ({ promise, what: 'a key still waits to be registered', row })),
    ...rows.notices
      .filter((notice) => notice.task !== null || notice.claimed)
      .map((row) => ({ promise, what: 'a word of a rail still waits', row })),
    ...unsent.map((row) => ({ promise, what: 'a notice was never acknowledged', row })),
  ];
}
