import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { type DuePoll, leasePolls, reschedulePayouts } from '../../payouts/payout-outcome.store.ts';
import type { OrderStatus, RailAnswer } from '../../rails/contract.ts';
import { isolateFailures, POSTPONE_MS } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { UNANSWERED, verifyNotices } from '../shared/verify-notices.ts';
import { applyPayoutUpdates, type PayoutUpdate } from './apply-payout-updates.ts';

interface Asked {
  readonly question: DuePoll;
  readonly answer: RailAnswer<OrderStatus>;
}

/**
 * Asks the rail about payouts, many in a call: those that were sent and have heard nothing, and messages that are
 * doubtful. What it answers is applied; what it does not answer is asked again later, for ever: a timeout is no answer.
 */
export class PayoutStatusPoller {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, keys: DataKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#caller = new RailCaller(deps, 'BRE_B', 3);
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns how many payouts were due; call again at once while there are any */
  async pollDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    const leaseToken = freshToken();
    const due = await this.#deps.system.transaction('lease payout polls', (tx) =>
      leasePolls(tx, leaseToken, this.#limit),
    );
    if (due.length === 0) return 0;
    const answers = await this.#ask(due.map((question) => question.endToEndId));
    const asked = due.map((question, index) => ({ question, answer: answers[index] ?? UNANSWERED }));
    await this.#apply(asked, leaseToken).catch((error: unknown) =>
      isolateFailures(
        error,
        asked,
        (each) => this.#apply([each], leaseToken),
        async ({ question }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payoutId: question.id },
            'what a rail answered cannot be applied',
          );
          await this.#deps.system.transaction('apply payout statuses', (tx) =>
            reschedulePayouts(
              tx,
              [{ ...question, next: { task: 'ask', afterMs: POSTPONE_MS }, railStatus: null }],
              leaseToken,
            ),
          );
        },
      ),
    );
    return due.length;
  }

  /** Messages that were not to be expected: the rail is asked whether it stands by them. */
  async verifyNotices(): Promise<number> {
    if (this.#caller.resting) return 0;
    return verifyNotices(this.#deps, {
      about: 'payout',
      rail: 'BRE_B',
      limit: this.#limit,
      maxProcessingMs: this.#deps.payoutRail.capabilities.maxProcessingMs,
      ask: (references) => this.#ask(references),
      apply: (tx, updates, options) => applyPayoutUpdates(this.#deps, this.#keys, tx, updates, options),
    });
  }

  #apply(asked: readonly Asked[], leaseToken: string): Promise<unknown> {
    const updates: PayoutUpdate[] = [];
    const silent: DuePoll[] = [];
    for (const { question, answer } of asked) {
      const { endToEndId: reference } = question;
      if (answer.kind === 'yes')
        updates.push({
          rail: 'BRE_B',
          reference,
          notification: null,
          railStatus: answer.value,
          pastProcessingWindow: false,
          sentMsAgo: question.sentMsAgo,
        });
      else silent.push(question);
    }
    return this.#deps.system.transaction('apply payout statuses', (tx) =>
      applyPayoutUpdates(this.#deps, this.#keys, tx, updates, {
        leaseToken,
        conclude: () =>
          reschedulePayouts(
            tx,
            silent.map((question) => ({
              ...question,
              next: { task: 'ask' as const, afterMs: backoffMs(question.questions + 1, 2000, 60_000) },
              railStatus: 'unanswered' as const,
            })),
            leaseToken,
          ),
      }),
    );
  }

  #ask(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStatus>[]> {
    return this.#caller.call('ask', endToEndIds, (ids) => this.#deps.payoutRail.queryOrders(ids));
  }

  get #limit(): number {
    return this.#caller.atMost(this.#deps.payoutRail.capabilities.maxStatusBatch);
  }
}
