import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import { runInTraces } from '../../kit/trace-context.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { refundUsedLookups } from '../../payouts/lookup-bucket.store.ts';
import { FIRST_POLL_MS, MAX_SEND_DELAY_MS, RESOLUTION_MARGIN_MS } from '../../payouts/payout.polling.ts';
import {
  type AttemptAnswer,
  commitAttempts,
  type DueOrder,
  recordAnswers,
  waitingOrganizations,
} from '../../payouts/payout-send.store.ts';
import { decryptReceiver } from '../../payouts/receiver.encryption.ts';
import {
  failureCause,
  isWithoutEffect,
  type PayOrder,
  type RailAnswer,
  unanswered,
} from '../../rails/contract.ts';
import { POSTPONE_MS, processIsolated } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { retryDelayMs } from '../shared/retry-delay.ts';
import { applyPayoutUpdates, type PayoutUpdate } from './apply-payout-updates.system.ts';

/** Maximum lease age when a rail call starts: the call must end before another process may assume it never happened. */
const SEND_DEADLINE_MS = MAX_SEND_DELAY_MS - 6000;

const MAX_ORGANIZATIONS = 50;
/** Sorts before every organization id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

interface Sent {
  readonly due: DueOrder;
  readonly answer: RailAnswer<'accepted' | 'duplicate'>;
  /** Delay until the payout is polled, or sent again if the rail certainly does not have its order. */
  readonly nextAfterMs: number;
}

/**
 * Sends payouts, many per call. The attempt is committed before the order is sent, its result afterwards. A crash in
 * between leaves a payout with an unknown outcome, and the rail is polled about it. If the rail certainly does
 * not have the order, the payout waits to be sent again, and can be canceled.
 */
export class PayoutSender {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #caller: RailCaller;
  readonly #answers: Counter;
  /** The last organization served, for round-robin order. */
  #after = FIRST;

  constructor(deps: SystemDeps, dataKeys: DataKeys) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#caller = new RailCaller(deps, 'BRE_B', 3);
    this.#answers = deps.metrics.counter(
      'caudal_payout_attempts_total',
      'Payout orders sent to the rail, by its answer.',
      { answer: ['yes', 'no', 'not_now', 'unknown'] },
    );
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns the number of payouts that were due; call again immediately while it is not zero */
  async send(): Promise<number> {
    const { railPauses, payoutRail, system } = this.#deps;
    if (this.#caller.resting || railPauses.allPaused('BRE_B')) return 0;
    const { maxPayBatch, resolutionMs } = payoutRail.capabilities;
    const leaseToken = newLeaseToken();
    const since = monotonicMs();
    const limit = this.#caller.batchLimit(maxPayBatch);
    const due = await system.transaction('commit attempts', async (tx) => {
      const organizations = await this.#nextOrganizations(tx, limit);
      const each = Math.ceil(limit / Math.max(1, organizations.length));
      const orders = await commitAttempts(
        tx,
        leaseToken,
        organizations,
        each,
        resolutionMs - RESOLUTION_MARGIN_MS,
      );
      // A lookup that leads to a payout is free: refund its token with the first attempt.
      await refundUsedLookups(
        tx,
        orders.flatMap(({ organizationId, attempt, lookupId }) =>
          attempt === 1 && lookupId !== null ? [{ organizationId, id: lookupId }] : [],
        ),
      );
      return orders;
    });
    if (due.length === 0) return 0;
    const sent = await this.#pay(due, since);
    await processIsolated(
      sent,
      (some) => this.#record(some, leaseToken),
      async ({ due: { id } }, error) =>
        this.#deps.log.error(
          { ...errorFields(error), code: 'payout_answer_apply_failed', payoutId: id },
          'failed to apply the rail answer to a payout order',
        ),
    );
    return due.length;
  }

  /** Round-robin, so that no organization waits behind the payroll of another. */
  async #nextOrganizations(tx: Tx, limit: number): Promise<string[]> {
    const excludedOrganizations = this.#deps.railPauses.pausedOrganizations('BRE_B');
    const count = Math.min(limit, MAX_ORGANIZATIONS);
    const next = await waitingOrganizations(tx, this.#after, excludedOrganizations, count);
    if (next.length < count && this.#after !== FIRST) {
      const more = await waitingOrganizations(tx, FIRST, excludedOrganizations, count - next.length);
      next.push(...more.filter((id) => !next.includes(id)));
    }
    this.#after = next.at(-1) ?? FIRST;
    return next;
  }

  async #pay(due: readonly DueOrder[], since: number): Promise<Sent[]> {
    const secrets = await this.#dataKeys.load(new Set(due.map((order) => order.organizationId)));
    const ready: { due: DueOrder; order: PayOrder }[] = [];
    const postponed: Sent[] = [];
    for (const each of due) {
      try {
        const { dataKey } = secrets(each.organizationId);
        const brebKey = decryptReceiver(dataKey, each.encryptedReceiver, each.organizationId, each.id);
        ready.push({ due: each, order: toPayOrder(each, brebKey) });
      } catch (error) {
        this.#deps.log.error(
          { ...errorFields(error), code: 'payout_receiver_decrypt_failed', payoutId: each.id },
          'failed to decrypt payout receiver; payout postponed',
        );
        postponed.push({
          due: each,
          answer: unsent('not sent: failed to decrypt the receiver'),
          nextAfterMs: POSTPONE_MS,
        });
      }
    }
    // A process that was suspended too long must not send: another process may have polled and resent the orders.
    if (monotonicMs() - since > SEND_DEADLINE_MS)
      return [
        ...postponed,
        ...ready.map((each) => toSent(each.due, unsent('not sent: the lease had expired'))),
      ];
    const orders = ready.map(({ order }) => order);
    const traces = ready.map(({ due: { endToEndId, traceContext } }) => ({
      reference: endToEndId,
      traceContext,
    }));
    const answers = await runInTraces(traces, () =>
      this.#caller.call('pay', orders, (some) => this.#deps.payoutRail.pay(some)),
    );
    for (const answer of answers) this.#answers.add({ answer: answer.kind });
    return [
      ...postponed,
      ...ready.map((each, index) =>
        toSent(each.due, answers[index] ?? unanswered('the rail did not answer for this order')),
      ),
    ];
  }

  #record(sent: readonly Sent[], leaseToken: string): Promise<unknown> {
    return this.#deps.system.transaction('record attempts', async (tx) => {
      // In the order in which every transaction locks payouts.
      await recordAnswers(tx, sent.map(toAttemptAnswer).toSorted(byRow), leaseToken);
      const updates = sent.flatMap(({ due, answer }): PayoutUpdate[] =>
        answer.kind === 'no'
          ? [
              {
                rail: 'BRE_B',
                reference: due.endToEndId,
                notification: { kind: 'refused', errorCode: answer.errorCode },
                railStatus: null,
                pastProcessingWindow: false,
              },
            ]
          : [],
      );
      await applyPayoutUpdates(this.#deps, this.#dataKeys, tx, updates);
    });
  }
}

function toPayOrder(due: DueOrder, brebKey: string): PayOrder {
  return {
    endToEndId: due.endToEndId,
    payoutId: due.id,
    amount: due.amount,
    key: brebKey,
    resolutionId: due.resolutionId,
    payerName: due.organizationName,
  };
}

function unsent(cause: string): RailAnswer<never> {
  return { kind: 'unknown', cause, sent: false };
}

function toSent(due: DueOrder, answer: RailAnswer<'accepted' | 'duplicate'>): Sent {
  return { due, answer, nextAfterMs: toDelayMs(due, answer) };
}

function toDelayMs({ attempt }: DueOrder, answer: RailAnswer<'accepted' | 'duplicate'>): number {
  switch (answer.kind) {
    case 'yes':
      // Accepted: the rail's notice will follow. Duplicate: the order may have ended, and its notice may be lost.
      return answer.value === 'accepted' ? FIRST_POLL_MS : 1000;
    case 'no':
      return 0;
    case 'not_now':
    case 'unknown':
      return retryDelayMs(answer, backoffMs(attempt, 2000, 60_000));
  }
}

function byRow(a: AttemptAnswer, b: AttemptAnswer): number {
  const [one, other] = [a.organizationId + a.id, b.organizationId + b.id];
  return one < other ? -1 : one > other ? 1 : 0;
}

function toAttemptAnswer({ due, answer, nextAfterMs }: Sent): AttemptAnswer {
  const { organizationId, id, attempt } = due;
  return {
    organizationId,
    id,
    attempt,
    answer: toAnswerName(answer),
    errorCode: answer.kind === 'no' ? answer.errorCode : null,
    reason: answer.kind === 'yes' ? null : failureCause(answer),
    isUnsent: isWithoutEffect(answer),
    nextAfterMs,
  };
}

function toAnswerName(answer: RailAnswer<'accepted' | 'duplicate'>): AttemptAnswer['answer'] {
  switch (answer.kind) {
    case 'yes':
      return answer.value;
    case 'no':
      return 'refused';
    case 'not_now':
      return 'not_now';
    case 'unknown':
      return answer.sent ? 'unknown' : 'not_sent';
  }
}
