import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { freshToken } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import { resourceReference } from '../kit/resource-reference.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { claimTasks, type DueTask, postponeTasks } from '../payins/payin-outcome.store.ts';
import type { Rail, RailAnswer, Standing } from '../rails/contract.ts';
import { applyWords, type PayinWord } from './apply-words.ts';
import { checkDoubtful, UNANSWERED } from './check-doubtful.ts';
import { oneByOne, PUT_OFF_MS } from './one-by-one.ts';
import { RailCaller } from './rail-caller.ts';

/** Nothing was ever sent, so what the rail would say is known without asking. */
const NEVER_SENT: RailAnswer<Standing> = {
  kind: 'yes',
  value: { reference: '', state: 'not_found', payments: [], opened: null, errorCode: null },
};

interface Asked {
  readonly item: DueTask;
  readonly answer: RailAnswer<Standing>;
}

/**
 * Asks one rail, many in a call: about payins that have heard nothing, about messages that are doubtful, and to close
 * what has expired or was paid. What it answers is applied; what it does not answer is asked again later.
 */
export class RailQuestions {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #rail: Rail;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, keys: DataKeys, rail: Rail) {
    this.#deps = deps;
    this.#keys = keys;
    this.#rail = rail;
    this.#caller = new RailCaller(deps, rail, 3);
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns how many payins were due; call again at once while there are any */
  async askDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    return this.#work('ask', (due) => this.#ask(due.map((task) => this.#referenceOf(task))));
  }

  /**
   * Ends what has expired. A collection is closed at the rail first and asked about then, so that no payment can come
   * between the question and the end; only "closed and unpaid" ends the payin. What was never sent needs no asking, and
   * so waits for no rail.
   */
  async closeDue(): Promise<number> {
    const canClose = this.#deps.rails[this.#rail].abilities.closeAtOnce > 0;
    if (canClose && this.#caller.resting) return 0;
    return this.#work('close', async (due) => {
      const toAsk = due.filter((task) => canClose || task.sent);
      const references = toAsk.map((task) => this.#referenceOf(task));
      const standings = canClose ? await this.#closeThenAsk(references) : await this.#ask(references);
      const byTask = new Map(toAsk.map((task, index) => [task, standings[index] ?? UNANSWERED]));
      return due.map((task) => byTask.get(task) ?? NEVER_SENT);
    });
  }

  /** Messages that were not to be expected: the rail is asked whether it stands by them. */
  async checkDoubtful(): Promise<number> {
    if (this.#caller.resting) return 0;
    return checkDoubtful(this.#deps, {
      about: 'payin',
      rail: this.#rail,
      most: this.#most,
      longestProcessingMs: this.#deps.rails[this.#rail].abilities.longestProcessingMs,
      ask: (references) => this.#ask(references),
      apply: (tx, words, options) => applyWords(this.#deps, this.#keys, tx, words, options),
    });
  }

  async #work(
    kind: 'ask' | 'close',
    ask: (due: readonly DueTask[]) => Promise<readonly RailAnswer<Standing>[]>,
  ): Promise<number> {
    const claimToken = freshToken();
    const due = await this.#deps.system.transaction('claim questions', (tx) =>
      claimTasks(tx, claimToken, this.#rail, kind, this.#most),
    );
    if (due.length === 0) return 0;
    const answers = await ask(due);
    const asked = due.map((item, index) => ({ item, answer: answers[index] ?? UNANSWERED }));
    await this.#applyAnswers(asked, claimToken).catch((error: unknown) =>
      oneByOne(
        error,
        asked,
        (each) => this.#applyAnswers([each], claimToken),
        async ({ item }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payinId: item.id, rail: this.#rail },
            'what a rail answered cannot be applied',
          );
          await this.#deps.system.transaction('apply answers', (tx) =>
            postponeTasks(tx, [{ ...item, afterMs: PUT_OFF_MS }], claimToken),
          );
        },
      ),
    );
    return due.length;
  }

  #applyAnswers(asked: readonly Asked[], claimToken: string): Promise<unknown> {
    const { longestProcessingMs } = this.#deps.rails[this.#rail].abilities;
    const words: PayinWord[] = [];
    const silent: DueTask[] = [];
    for (const { item: task, answer } of asked) {
      const reference = this.#referenceOf(task);
      // Counted until the query began: the answer to one that began in time may be older than the payment.
      const toldLongAgo = (task.endedMsAgo ?? 0) >= longestProcessingMs;
      if (answer.kind === 'yes')
        words.push({ rail: this.#rail, reference, told: null, standing: answer.value, toldLongAgo });
      else silent.push(task);
    }
    return this.#deps.system.transaction('apply answers', (tx) =>
      applyWords(this.#deps, this.#keys, tx, words, {
        claimToken,
        conclude: () =>
          postponeTasks(
            tx,
            silent.map((task) => ({ ...task, afterMs: backoffMs(task.attempts + 1, 2000, 60_000) })),
            claimToken,
          ),
      }),
    );
  }

  get #most(): number {
    return this.#caller.atMost(this.#deps.rails[this.#rail].abilities.askAtOnce);
  }

  async #closeThenAsk(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    if (references.length === 0) return [];
    const closed = await this.#call('close', references);
    const shut = references.filter((_, index) => closed[index]?.kind === 'yes');
    const standings = await this.#ask(shut);
    const byReference = new Map(shut.map((reference, index) => [reference, standings[index] ?? UNANSWERED]));
    return references.map((reference) => byReference.get(reference) ?? UNANSWERED);
  }

  #ask(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    return this.#call('ask', references);
  }

  #call(operation: 'ask' | 'close', references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    return this.#caller.call(operation, references, (items) =>
      this.#deps.rails[this.#rail][operation](items),
    );
  }

  #referenceOf(task: DueTask): string {
    return task.brebKey ?? resourceReference(task.id, task.organizationNumber);
  }
}
