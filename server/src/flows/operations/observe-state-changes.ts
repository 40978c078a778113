import type { StateChange } from '../../db/tx.ts';
import type { Log } from '../../kit/log.ts';
import type { Counter, Histogram, Metrics } from '../../kit/metrics.ts';
import { PAYIN_ERROR_CODES } from '../../payins/payin.columns.ts';
import { isPayerErrorCode } from '../../payins/payin.outcome.ts';
import { PAYOUT_ERROR_CODES, PAYOUT_RAIL } from '../../payouts/payout.columns.ts';
import { RAILS } from '../../rails/contract.ts';

/** From a second, when the payer pays at once, to a day, when a payout waits for a decision. */
const OUTCOME_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 86_400];

const STATUSES = ['CONFIRMED', 'DECLINED', 'CANCELED'] as const;

type Observe = (change: StateChange) => void;

/**
 * Counts and logs what this process creates and ends. The stores report each change to their transaction, and the pool passes
 * it on after the commit: every change is seen once, whichever flow made it, and none that was rolled back. A change whose
 * commit was not answered is not counted.
 */
export function observeStateChanges(metrics: Metrics, log: Log): (changes: readonly StateChange[]) => void {
  const observers: Readonly<Record<StateChange['resource'], Observe>> = {
    payin: observePayins(metrics, log),
    payout: observePayouts(metrics, log),
    payment_link: observeLinks(metrics, log),
  };
  return (changes) => {
    for (const change of changes) observers[change.resource](change);
  };
}

function observePayins(metrics: Metrics, log: Log): Observe {
  const count = byRail({
    created: metrics.counter('caudal_payins_created_total', 'Payins created, by rail.', { rail: RAILS }),
    ended: metrics.counter(
      'caudal_payins_ended_total',
      'Payins that reached a final state, by rail, status and error code; "none" without an error code.',
      RAILS.flatMap((rail) => [
        { rail, status: 'CONFIRMED', error_code: 'none' },
        ...PAYIN_ERROR_CODES.map((code) => ({
          rail,
          status: isPayerErrorCode(code) ? 'CANCELED' : 'DECLINED',
          error_code: code,
        })),
      ]),
    ),
    seconds: metrics.histogram(
      'caudal_payin_outcome_seconds',
      'Time from the creation of a payin to its final state, by rail and status.',
      OUTCOME_BUCKETS,
      { rail: RAILS, status: STATUSES },
    ),
  });
  return (change) => {
    count(change);
    if (change.ended)
      log.info({ code: 'payin_ended', payinId: change.id, ...logFields(change) }, 'payin ended');
  };
}

function observePayouts(metrics: Metrics, log: Log): Observe {
  const rail = PAYOUT_RAIL;
  const count = byRail({
    created: metrics.counter('caudal_payouts_created_total', 'Payouts created, by rail.', { rail: [rail] }),
    ended: metrics.counter(
      'caudal_payouts_ended_total',
      'Payouts that reached a final state, by rail, status and error code; "none" without an error code.',
      [
        { rail, status: 'CONFIRMED', error_code: 'none' },
        { rail, status: 'CANCELED', error_code: 'none' },
        ...PAYOUT_ERROR_CODES.map((code) => ({ rail, status: 'DECLINED', error_code: code })),
      ],
    ),
    seconds: metrics.histogram(
      'caudal_payout_outcome_seconds',
      'Time from the creation of a payout to its final state, by rail and status.',
      OUTCOME_BUCKETS,
      { rail: [rail], status: STATUSES },
    ),
  });
  return (change) => {
    count(change);
    if (change.ended)
      log.info({ code: 'payout_ended', payoutId: change.id, ...logFields(change) }, 'payout ended');
  };
}

function observeLinks(metrics: Metrics, log: Log): Observe {
  const created = metrics.counter('caudal_payment_links_created_total', 'Payment links created.', {});
  const ended = metrics.counter(
    'caudal_payment_links_ended_total',
    'Payment links that reached a final state, by status.',
    { status: ['COMPLETED', 'EXPIRED'] },
  );
  return (change) => {
    if (!change.ended) return created.add();
    ended.add({ status: change.ended.status });
    log.info(
      { code: 'payment_link_ended', paymentLinkId: change.id, ...logFields(change) },
      'payment link ended',
    );
  };
}

function byRail({
  created,
  ended,
  seconds,
}: {
  readonly created: Counter;
  readonly ended: Counter;
  readonly seconds: Histogram;
}): Observe {
  return (change) => {
    const rail = change.rail ?? 'none';
    if (!change.ended) return created.add({ rail });
    const { status, errorCode, afterMs } = change.ended;
    ended.add({ rail, status, error_code: errorCode ?? 'none' });
    seconds.observe(afterMs / 1000, { rail, status });
  };
}

function logFields({ organizationId, rail, ended }: StateChange) {
  return {
    organizationId,
    ...(rail === null ? {} : { rail }),
    status: ended?.status ?? null,
    ...(ended?.errorCode ? { errorCode: ended.errorCode } : {}),
    durationMs: ended?.afterMs ?? null,
  };
}
