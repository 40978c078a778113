import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { runInTraces, unpackTraceContext } from '../../kit/trace-context.ts';
import { traceShared } from '../../kit/tracer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { type DuePoll, leasePolls, reschedulePayouts } from '../../payouts/payout-outcome.store.ts';
import type { OrderStatus, RailAnswer } from '../../rails/contract.ts';
import { POSTPONE_MS, processIsolated } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { UNANSWERED, verifyNotices } from '../shared/verify-notices.system.ts';
import { applyPayoutUpdates, type PayoutUpdate } from './apply-payout-updates.system.ts';

interface PollResult {
  readonly poll: DuePoll;
  readonly answer: RailAnswer<OrderStatus>;
}

/**
 * Polls the rail about payouts, many per call: sent payouts without an outcome, and notifications that need verification.
 * Answers are applied. A poll without an answer is repeated without limit: a timeout is not an outcome.
 */
export class PayoutStatusPoller {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, dataKeys: DataKeys) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#caller = new RailCaller(deps, 'BRE_B', 3);
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns the number of payouts that were due; call again immediately while it is not zero */
  async pollDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    const leaseToken = newLeaseToken();
    const due = await this.#deps.system.transaction('lease payout polls', (tx) =>
      leasePolls(tx, leaseToken, this.#limit),
    );
    if (due.length === 0) return 0;
    const traces = due.map(({ endToEndId, traceContext }) => ({ reference: endToEndId, traceContext }));
    const answers = await runInTraces(traces, () => this.#query(due.map((poll) => poll.endToEndId)));
    const results = due.map((poll, index) => ({ poll, answer: answers[index] ?? UNANSWERED }));
    await processIsolated(
      results,
      (some) =>
        traceShared(
          this.#deps.tracer,
          some.map(({ poll }) => unpackTraceContext(poll.traceContext)),
          { name: 'commit apply payout statuses', kind: 'internal' },
          () => this.#apply(some, leaseToken),
        ),
      async ({ poll }, error) => {
        this.#deps.log.error(
          { ...errorFields(error), code: 'payout_status_apply_failed', payoutId: poll.id },
          'failed to apply payout status; poll postponed',
        );
        const postponed = {
          ...poll,
          next: { task: 'poll', afterMs: POSTPONE_MS },
          railStatus: null,
        } as const;
        await this.#deps.system.transaction('apply payout statuses', (tx) =>
          reschedulePayouts(tx, [postponed], leaseToken),
        );
      },
    );
    return due.length;
  }

  /** Queries the rail about unexpected notifications and applies its answers. */
  async verifyNotices(): Promise<number> {
    if (this.#caller.resting) return 0;
    return verifyNotices(this.#deps, {
      about: 'payout',
      rail: 'BRE_B',
      limit: this.#limit,
      maxProcessingMs: this.#deps.payoutRail.capabilities.maxProcessingMs,
      queryStatus: (references) => this.#query(references),
      apply: (tx, updates, options) => applyPayoutUpdates(this.#deps, this.#dataKeys, tx, updates, options),
    });
  }

  #apply(results: readonly PollResult[], leaseToken: string): Promise<unknown> {
    const updates: PayoutUpdate[] = [];
    const unanswered: DuePoll[] = [];
    for (const { poll, answer } of results) {
      const { endToEndId: reference } = poll;
      if (answer.kind === 'yes')
        updates.push({
          rail: 'BRE_B',
          reference,
          notification: null,
          railStatus: answer.value,
          pastProcessingWindow: false,
          sentMsAgo: poll.sentMsAgo,
        });
      else unanswered.push(poll);
    }
    return this.#deps.system.transaction('apply payout statuses', (tx) =>
      applyPayoutUpdates(this.#deps, this.#dataKeys, tx, updates, {
        leaseToken,
        conclude: () =>
          reschedulePayouts(
            tx,
            unanswered.map((poll) => ({
              ...poll,
              next: { task: 'poll' as const, afterMs: backoffMs(poll.polls + 1, 2000, 60_000) },
              railStatus: 'unanswered' as const,
            })),
            leaseToken,
          ),
      }),
    );
  }

  #query(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStatus>[]> {
    return this.#caller.call('poll', endToEndIds, (ids) => this.#deps.payoutRail.queryOrders(ids));
  }

  get #limit(): number {
    return this.#caller.batchLimit(this.#deps.payoutRail.capabilities.maxStatusBatch);
  }
}
