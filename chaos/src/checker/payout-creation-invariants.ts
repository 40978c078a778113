import type { Canceled } from './client-payout-facts.ts';
import type { InvariantCode } from './invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { Violation, World } from './world.ts';

const NO_ORIGIN: InvariantCode = 'no_unexplained_records';

/** Every acknowledged payout exists once as acknowledged, and no payout exists that no client requested. */
export function payoutCreationViolations(world: World): Violation[] {
  return [
    ...createdExists(world),
    ...oneAnswerPerIdempotencyKey(world),
    ...oneReference(world),
    ...everyPayoutWasSent(world),
    ...orphanViolations(world),
    ...cancelViolations(world),
  ];
}

function createdExists({ client, rows }: World): Violation[] {
  const invariant: InvariantCode = 'created_payout_exists';
  return client.payouts.created.flatMap(({ sent, payout }): Violation[] => {
    const row = rows.payouts.byId.get(payout.id);
    if (!row) return [{ invariant, detail: 'an acknowledged payout is missing', row: payout }];
    const matches =
      row.organizationId === sent.organizationId &&
      row.reference === payout.reference &&
      row.amount === BigInt(payout.amountInCents) &&
      payout.reference === sent.reference &&
      payout.amountInCents === sent.amountInCents &&
      payout.key === sent.key;
    return matches
      ? []
      : [
          {
            invariant,
            detail: 'a payout differs from its acknowledgment',
            row: { acknowledged: payout, row },
          },
        ];
  });
}

function oneAnswerPerIdempotencyKey({ client }: World): Violation[] {
  const invariant: InvariantCode = 'one_payout_per_idempotency_key';
  const keyed = client.payouts.created.filter(({ sent }) => sent.idempotencyKey !== null);
  const byKey = Map.groupBy(keyed, ({ sent }) => `${sent.organizationId} ${sent.idempotencyKey}`);
  return [...byKey].flatMap(([key, answers]) => {
    const ids = new Set(answers.map(({ payout }) => payout.id));
    const bodies = new Set(answers.map(({ sent }) => sent.bodyHash));
    if (ids.size > 1)
      return [{ invariant, detail: 'a repeat returned another payout', row: { key, ids: [...ids] } }];
    return bodies.size > 1
      ? [{ invariant, detail: 'an idempotency key was accepted with another body', row: { key } }]
      : [];
  });
}

function oneReference({ rows: { payouts } }: World): Violation[] {
  const invariant: InvariantCode = 'one_payout_per_reference';
  const name = (row: { organizationId: string; reference: string }) =>
    `${row.organizationId} ${row.reference}`;
  const ours = payouts.all.filter(isMerchantPayout);
  const holders = new Map(payouts.references.map((row) => [name(row), row.resourceId]));
  const twice = [...Map.groupBy(ours, name)].filter(([, same]) => same.length > 1);
  return [
    ...twice.map(([, same]) => ({
      invariant,
      detail: 'two payouts with one reference',
      row: same.map(({ id }) => id),
    })),
    ...ours
      .filter((payout) => holders.get(name(payout)) !== payout.id)
      .map((row) => ({ invariant, detail: 'a payout does not hold its reference', row })),
    ...payouts.references
      .filter((row) => !payouts.byId.has(row.resourceId))
      .map((row) => ({ invariant, detail: 'a reference belongs to no payout', row })),
  ];
}

function everyPayoutWasSent({ client, rows }: World): Violation[] {
  const requested = new Set(
    client.payouts.sent.map((s) => `${s.organizationId} ${s.reference} ${s.amountInCents}`),
  );
  const returns = new Set(rows.anomalies.map(({ returnPayoutId }) => returnPayoutId));
  const known = (row: PayoutRow) =>
    isMerchantPayout(row)
      ? requested.has(`${row.organizationId} ${row.reference} ${row.amount}`)
      : // The anomaly of a declined return is open again and no longer references it.
        returns.has(row.id) || row.status === 'DECLINED';
  return rows.payouts.all
    .filter((row) => !known(row))
    .map((row) => ({ invariant: NO_ORIGIN, detail: 'a payout that no client requested', row }));
}

function orphanViolations({ rows }: World): Violation[] {
  const { payouts } = rows;
  const orphans = (detail: string, owned: readonly { readonly payoutId: string | null }[]) =>
    owned
      .filter(({ payoutId }) => payoutId !== null && !payouts.byId.has(payoutId))
      .map((row) => ({ invariant: NO_ORIGIN, detail, row }));
  const named = (list: readonly { readonly resourceId: string | null }[]) =>
    list.map((row) => ({ ...row, payoutId: row.resourceId }));
  const flat = <T>(map: ReadonlyMap<string, readonly T[]>) => [...map.values()].flat();
  return [
    ...orphans('history without a payout', flat(payouts.historyByResource)),
    ...orphans('an attempt without a payout', flat(payouts.attemptsByPayout)),
    ...orphans('an event without a payout', named(flat(payouts.eventsByResource))),
    ...orphans('a final event without a payout', named(flat(payouts.finalEventsByResource))),
    ...orphans('an anomaly without a payout', rows.anomalies),
  ];
}

/** A granted cancel is final, and a rejected cancel was rejected for a true reason. */
function cancelViolations({ client, rows }: World): Violation[] {
  const invariant: InvariantCode = 'cancel_response_holds';
  return client.payouts.cancels.flatMap((cancel) => {
    const payout = rows.payouts.byId.get(cancel.payoutId);
    const detail = cancelContradiction(cancel, payout);
    return detail === null ? [] : [{ invariant, detail, row: { cancel, payout } }];
  });
}

function cancelContradiction(
  { status, code, reportedStatus }: Canceled,
  payout: PayoutRow | undefined,
): string | null {
  if (status === 200 && reportedStatus !== 'CANCELED') return `canceled, but reported as ${reportedStatus}`;
  if (status === 200) return payout?.status === 'CANCELED' ? null : 'reported as canceled, but it is not';
  if (status === 404) return payout ? 'reported as not found, but it exists' : null;
  if (code === 'payout_already_sent')
    // It may be canceled later, if that attempt had no effect.
    return payout && payout.attempts > 0 ? null : 'reported as sent, but it was not';
  if (code === 'payout_ended')
    return payout?.status === 'DECLINED' ? null : 'reported as ended, but it had not';
  return null;
}

/** Created by a merchant; a return of money in suspense is created by the operator. */
export function isMerchantPayout({ anomalyId }: PayoutRow): boolean {
  return anomalyId === null;
}
