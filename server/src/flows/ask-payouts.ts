import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { freshToken } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { claimQuestions, type DueQuestion, reschedulePayouts } from '../payouts/payout-outcome.store.ts';
import type { OrderStanding, RailAnswer } from '../rails/contract.ts';
import { applyPayoutWords, type PayoutWord } from './apply-payout-words.ts';
import { checkDoubtful, UNANSWERED } from './check-doubtful.ts';
import { oneByOne, PUT_OFF_MS } from './one-by-one.ts';
import { RailCaller } from './rail-caller.ts';

interface Asked {
  readonly question: DueQuestion;
  readonly answer: RailAnswer<OrderStanding>;
}

/**
 * Asks the rail about payouts, many in a call: those that were sent and have heard nothing, and messages that are
 * doubtful. What it answers is applied; what it does not answer is asked again later, for ever: a timeout is no answer.
 */
export class PayoutQuestions {
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
  async askDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    const claimToken = freshToken();
    const due = await this.#deps.system.transaction('claim payout questions', (tx) =>
      claimQuestions(tx, claimToken, this.#most),
    );
    if (due.length === 0) return 0;
    const answers = await this.#ask(due.map((question) => question.endToEndId));
    const asked = due.map((question, index) => ({ question, answer: answers[index] ?? UNANSWERED }));
    await this.#apply(asked, claimToken).catch((error: unknown) =>
      oneByOne(
        error,
        asked,
        (each) => this.#apply([each], claimToken),
        async ({ question }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payoutId: question.id },
            'what a rail answered cannot be applied',
          );
          await this.#deps.system.transaction('apply payout answers', (tx) =>
            reschedulePayouts(
              tx,
              [{ ...question, next: { task: 'ask', afterMs: PUT_OFF_MS }, railStatus: null }],
              claimToken,
            ),
          );
        },
      ),
    );
    return due.length;
  }

  /** Messages that were not to be expected: the rail is asked whether it stands by them. */
  async checkDoubtful(): Promise<number> {
    if (this.#caller.resting) return 0;
    return checkDoubtful(this.#deps, {
      about: 'payout',
      rail: 'BRE_B',
      most: this.#most,
      longestProcessingMs: this.#deps.payoutRail.abilities.longestProcessingMs,
      ask: (references) => this.#ask(references),
      apply: (tx, words, options) => applyPayoutWords(this.#deps, this.#keys, tx, words, options),
    });
  }

  #apply(asked: readonly Asked[], claimToken: string): Promise<unknown> {
    const words: PayoutWord[] = [];
    const silent: DueQuestion[] = [];
    for (const { question, answer } of asked) {
      const { endToEndId: reference } = question;
      if (answer.kind === 'yes')
        words.push({
          rail: 'BRE_B',
          reference,
          told: null,
          standing: answer.value,
          toldLongAgo: false,
          sentMsAgo: question.sentMsAgo,
        });
      else silent.push(question);
    }
    return this.#deps.system.transaction('apply payout answers', (tx) =>
      applyPayoutWords(this.#deps, this.#keys, tx, words, {
        claimToken,
        conclude: () =>
          reschedulePayouts(
            tx,
            silent.map((question) => ({
              ...question,
              next: { task: 'ask' as const, afterMs: backoffMs(question.questions + 1, 2000, 60_000) },
              railStatus: 'unanswered' as const,
            })),
            claimToken,
          ),
      }),
    );
  }

  #ask(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStanding>[]> {
    return this.#caller.call('ask', endToEndIds, (ids) => this.#deps.payoutRail.askOrders(ids));
  }

  get #most(): number {
    return this.#caller.atMost(this.#deps.payoutRail.abilities.askAtOnce);
  }
}
