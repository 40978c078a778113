import type { PayoutRow } from './payout-rows.ts';
import type { Canceled } from './payout-told.ts';
import type { Violation, World } from './world.ts';

const NOWHERE = 'nothing from nowhere';

/** What merchants were told about a payout is so, once, and no payout is there that nobody asked for. */
export function payoutCreationViolations(world: World): Violation[] {
  return [
    ...createdExists(world),
    ...oneAnswerPerKey(world),
    ...oneReference(world),
    ...everyPayoutWasSent(world),
    ...everythingBelongsToAPayout(world),
    ...cancelsKeepTheirWord(world),
  ];
}

function createdExists({ told, rows }: World): Violation[] {
  const promise = 'every 201 of a payout exists as told';
  return told.payouts.created.flatMap(({ sent, payout }): Violation[] => {
    const row = rows.payouts.byId.get(payout.id);
    if (!row) return [{ promise, what: 'a payout that was promised is gone', row: payout }];
    const asTold =
      row.organizationId === sent.organizationId &&
      row.reference === payout.reference &&
      row.amount === BigInt(payout.amountInCents) &&
      payout.reference === sent.reference &&
      payout.amountInCents === sent.amountInCents &&
      payout.key === sent.key;
    return asTold ? [] : [{ promise, what: 'a payout is not what was promised', row: { told: payout, row } }];
  });
}

function oneAnswerPerKey({ told }: World): Violation[] {
  const promise = 'one payout per idempotency key';
  const keyed = told.payouts.created.filter(({ sent }) => sent.idempotencyKey !== null);
  const byKey = Map.groupBy(keyed, ({ sent }) => `${sent.organizationId} ${sent.idempotencyKey}`);
  return [...byKey].flatMap(([key, answers]) => {
    const ids = new Set(answers.map(({ payout }) => payout.id));
    const bodies = new Set(answers.map(({ sent }) => sent.bodyHash));
    if (ids.size > 1)
      return [{ promise, what: 'a repeat was told another payout', row: { key, ids: [...ids] } }];
    return bodies.size > 1 ? [{ promise, what: 'a key was accepted with another body', row: { key } }] : [];
  });
}

function oneReference({ rows: { payouts } }: World): Violation[] {
  const promise = 'one payout per reference';
  const name = (row: { organizationId: string; reference: string }) =>
    `${row.organizationId} ${row.reference}`;
  const ours = payouts.all.filter(isMerchants);
  const holders = new Map(payouts.references.map((row) => [name(row), row.resourceId]));
  const twice = [...Map.groupBy(ours, name)].filter(([, same]) => same.length > 1);
  return [
    ...twice.map(([, same]) => ({
      promise,
      what: 'two payouts with one reference',
      row: same.map(({ id }) => id),
    })),
    ...ours
      .filter((payout) => holders.get(name(payout)) !== payout.id)
      .map((row) => ({ promise, what: 'a payout does not hold its reference', row })),
    ...payouts.references
      .filter((row) => !payouts.byId.has(row.resourceId))
      .map((row) => ({ promise, what: 'a reference is held by no payout', row })),
  ];
}

function everyPayoutWasSent({ told, rows }: World): Violation[] {
  const asked = new Set(
    told.payouts.sent.map((s) => `${s.organizationId} ${s.reference} ${s.amountInCents}`),
  );
  const returns = new Set(rows.anomalies.map(({ returnPayoutId }) => returnPayoutId));
  const known = (row: PayoutRow) =>
    isMerchants(row)
      ? asked.has(`${row.organizationId} ${row.reference} ${row.amount}`)
      : // A return that was declined left its anomaly, which is open again.
        returns.has(row.id) || row.status === 'DECLINED';
  return rows.payouts.all
    .filter((row) => !known(row))
    .map((row) => ({ promise: NOWHERE, what: 'a payout that nobody asked for', row }));
}

function everythingBelongsToAPayout({ rows }: World): Violation[] {
  const { payouts } = rows;
  const orphans = (what: string, owned: readonly { readonly payoutId: string | null }[]) =>
    owned
      .filter(({ payoutId }) => payoutId !== null && !payouts.byId.has(payoutId))
      .map((row) => ({ promise: NOWHERE, what, row }));
  const named = (list: readonly { readonly resourceId: string | null }[]) =>
    list.map((row) => ({ ...row, payoutId: row.resourceId }));
  const flat = <T>(map: ReadonlyMap<string, readonly T[]>) => [...map.values()].flat();
  return [
    ...orphans('history of no payout', flat(payouts.historyOf)),
    ...orphans('an attempt of no payout', flat(payouts.attemptsOf)),
    ...orphans('an event of no payout', named(flat(payouts.eventsOf))),
    ...orphans('a final event of no payout', named(flat(payouts.finalEventsOf))),
    ...orphans('an anomaly of no payout', rows.anomalies),
  ];
}

/** A cancel that was granted is for ever, and one that was refused was refused for its reason. */
function cancelsKeepTheirWord({ told, rows }: World): Violation[] {
  const promise = 'a cancel keeps its word';
  return told.payouts.cancels.flatMap((cancel) => {
    const payout = rows.payouts.byId.get(cancel.payoutId);
    const what = brokenWord(cancel, payout);
    return what === null ? [] : [{ promise, what, row: { cancel, payout } }];
  });
}

function brokenWord({ status, code, told }: Canceled, payout: PayoutRow | undefined): string | null {
  if (status === 200 && told !== 'CANCELED') return `canceled, and told as ${told}`;
  if (status === 200) return payout?.status === 'CANCELED' ? null : 'canceled, and it is not';
  if (status === 404) return payout ? 'not found, and it is there' : null;
  if (code === 'payout_already_sent')
    return payout && payout.attempts > 0 && payout.status !== 'CANCELED' ? null : 'sent, and it was not';
  if (code === 'payout_ended') return payout?.status === 'DECLINED' ? null : 'ended, and it had not';
  return null;
}

/** Not a return, which the house makes of money in suspense. */
export function isMerchants({ anomalyId }: PayoutRow): boolean {
  return anomalyId === null;
}
