import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { Circuit } from '../kit/circuit.ts';
import { freshToken } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { claimTasks, type DueTask, postponeTasks } from '../payins/payin-outcome.store.ts';
import { pseReference } from '../payins/pse-reference.ts';
import {
  claimDoubtful,
  concludeNotices,
  type DueNotice,
  type NoticeResult,
} from '../rail-notices/notice.store.ts';
import type { Rail, RailAnswer, Standing } from '../rails/contract.ts';
import { applyWords, type Word, type WordResult } from './apply-words.ts';
import { oneByOne } from './one-by-one.ts';

const UNANSWERED: RailAnswer<never> = {
  kind: 'unknown',
  cause: 'the rail did not answer for this reference',
};

/** Nothing was ever sent, so what the rail would say is known without asking. */
const NEVER_SENT: RailAnswer<Standing> = {
  kind: 'yes',
  value: { reference: '', state: 'not_found', payments: [], opened: null, errorCode: null },
};

/** What cannot be applied waits for somebody to look into it. */
const PUT_OFF_MS = 600_000;

interface Asked<Item> {
  readonly item: Item;
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
  readonly #circuit = new Circuit({ failuresToOpen: 3, restMs: 1000 });

  constructor(deps: SystemDeps, keys: DataKeys, rail: Rail) {
    this.#deps = deps;
    this.#keys = keys;
    this.#rail = rail;
  }

  get circuitOpen(): boolean {
    return this.#circuit.open;
  }

  /** @returns how many payins were due; call again at once while there are any */
  async askDue(): Promise<number> {
    if (this.#circuit.resting) return 0;
    return this.#work('ask', (due) => this.#ask(due.map((task) => this.#referenceOf(task))));
  }

  /**
   * Ends what has expired. A collection is closed at the rail first and asked about then, so that no payment can come
   * between the question and the end; only "closed and unpaid" ends the payin. What was never sent needs no asking, and
   * so waits for no rail.
   */
  async closeDue(): Promise<number> {
    const canClose = this.#deps.rails[this.#rail].abilities.closeAtOnce > 0;
    if (canClose && this.#circuit.resting) return 0;
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
    if (this.#circuit.resting) return 0;
    const claimToken = freshToken();
    const notices = await this.#deps.system.transaction('claim doubtful notices', (tx) =>
      claimDoubtful(tx, claimToken, this.#rail, this.#most),
    );
    if (notices.length === 0) return 0;
    const answers = await this.#ask(notices.map((notice) => notice.reference));
    const asked = notices.map((item, index) => ({ item, answer: answers[index] ?? UNANSWERED }));
    await this.#concludeChecked(asked, claimToken).catch((error: unknown) =>
      oneByOne(
        error,
        asked,
        (each) => this.#concludeChecked([each], claimToken),
        async ({ item }, alone) => {
          this.#tell(alone, { noticeId: item.id });
          await this.#deps.system.transaction('apply checked notices', (tx) =>
            concludeNotices(tx, [askAgain(item, PUT_OFF_MS)], claimToken),
          );
        },
      ),
    );
    return notices.length;
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
          this.#tell(alone, { payinId: item.id });
          await this.#deps.system.transaction('apply answers', (tx) =>
            postponeTasks(tx, [{ ...item, afterMs: PUT_OFF_MS }], claimToken),
          );
        },
      ),
    );
    return due.length;
  }

  #applyAnswers(asked: readonly Asked<DueTask>[], claimToken: string): Promise<unknown> {
    const words: Word[] = [];
    const silent: DueTask[] = [];
    for (const { item: task, answer } of asked) {
      const reference = this.#referenceOf(task);
      if (answer.kind === 'yes')
        words.push({ rail: this.#rail, reference, told: null, standing: answer.value, toldLongAgo: false });
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

  #concludeChecked(asked: readonly Asked<DueNotice>[], claimToken: string): Promise<unknown> {
    const { longestProcessingMs } = this.#deps.rails[this.#rail].abilities;
    const answered = asked.flatMap(({ item, answer }) =>
      answer.kind === 'yes' ? [{ notice: item, standing: answer.value }] : [],
    );
    const silent = asked.filter(({ answer }) => answer.kind !== 'yes');
    const words = answered.map(
      ({ notice, standing }): Word => ({
        rail: notice.rail,
        reference: notice.reference,
        told: notice.word,
        standing,
        toldLongAgo: notice.ageMs >= longestProcessingMs,
      }),
    );
    return this.#deps.system.transaction('apply checked notices', (tx) =>
      applyWords(this.#deps, this.#keys, tx, words, {
        claimToken: null,
        conclude: (results) =>
          concludeNotices(
            tx,
            [
              ...answered.map(({ notice }, index) => resultOf(notice, results[index] ?? 'doubtful')),
              ...silent.map(({ item }) => askAgain(item, backoffMs(item.attempts + 1, 1000, 60_000))),
            ],
            claimToken,
          ),
      }),
    );
  }

  /** A rail that is away is asked about one now and then; claiming all that wait would only load the database. */
  get #most(): number {
    return this.#circuit.open ? 1 : this.#deps.rails[this.#rail].abilities.askAtOnce;
  }

  async #closeThenAsk(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    if (references.length === 0) return [];
    const closed = await this.#call('close', references);
    const shut = references.filter((_, index) => closed[index]?.kind === 'yes');
    const standings = await this.#ask(shut);
    const byReference = new Map(shut.map((reference, index) => [reference, standings[index] ?? UNANSWERED]));
    return references.map((reference) => byReference.get(reference) ?? UNANSWERED);
  }

  async #ask(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    return references.length === 0 ? [] : this.#call('ask', references);
  }

  async #call(
    operation: 'ask' | 'close',
    references: readonly string[],
  ): Promise<readonly RailAnswer<Standing>[]> {
    if (!this.#circuit.allows()) return references.map(() => UNANSWERED);
    let answers: readonly RailAnswer<Standing>[];
    try {
      answers = await this.#deps.rails[this.#rail][operation](references);
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
    const unclear = answers.filter((answer) => answer.kind === 'unknown');
    if (unclear.length === answers.length) this.#circuit.failed();
    else this.#circuit.succeeded();
    if (unclear.length > 0)
      this.#deps.log.warn(
        { rail: this.#rail, operation, count: unclear.length, reason: unclear[0]?.cause ?? '' },
        'the rail gave no clear answer',
      );
    return answers;
  }

  #tell(error: unknown, about: { readonly noticeId: string } | { readonly payinId: string }): void {
    this.#deps.log.error(
      { ...errorFields(error), ...about, rail: this.#rail },
      'what a rail answered cannot be applied',
    );
  }

  #referenceOf(task: DueTask): string {
    return task.brebKey ?? pseReference(task.id, task.organizationNumber);
  }
}

function askAgain({ organizationId, id }: DueNotice, afterMs: number): NoticeResult {
  return { organizationId, id, outcome: null, next: { task: 'ask', afterMs } };
}

function resultOf(notice: DueNotice, result: WordResult): NoticeResult {
  if (result === 'doubtful') return askAgain(notice, backoffMs(notice.attempts + 1, 1000, 10_000));
  return { organizationId: notice.organizationId, id: notice.id, outcome: result, next: null };
}
