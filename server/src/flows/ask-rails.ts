import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { Circuit } from '../kit/circuit.ts';
import { freshToken } from '../kit/ids.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { claimTasks, type DueTask, postponeTasks } from '../payins/payin-outcome.store.ts';
import { pseReference } from '../payins/pse-reference.ts';
import { claimDoubtful, concludeNotices } from '../rail-notices/notice.store.ts';
import type { Rail, RailAnswer, Standing } from '../rails/contract.ts';
import { applyWords, type Word } from './apply-words.ts';

const UNANSWERED: RailAnswer<never> = {
  kind: 'unknown',
  cause: 'the rail did not answer for this reference',
};

/** Never asked, because nothing was ever sent: what the rail would say is known. */
const NEVER_SENT: RailAnswer<Standing> = {
  kind: 'yes',
  value: { reference: '', state: 'closed', payments: [], opened: null, errorCode: null },
};

/**
 * Asks one rail, many in a call: about payins that have heard nothing, about messages that are doubtful, and to close
 * what has expired. What it answers is applied; what it does not answer is asked again later.
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

  /** @returns how many payins were due; call again at once while there are any */
  async askDue(): Promise<number> {
    return this.#work('ask', (due) => this.#ask(due.map((task) => this.#referenceOf(task))));
  }

  /**
   * Ends what has expired. A collection is closed at the rail first and asked about then, so that no payment can come
   * between the question and the end; only "closed and unpaid" ends the payin. What was never sent needs no asking.
   */
  async closeExpired(): Promise<number> {
    return this.#work('close', async (due) => {
      const canClose = this.#deps.rails[this.#rail].abilities.closeAtOnce > 0;
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
    const answered = notices.flatMap((notice, index) => {
      const answer = answers[index] ?? UNANSWERED;
      return answer.kind === 'yes' ? [{ notice, standing: answer.value }] : [];
    });
    const silent = notices.filter((_, index) => answers[index]?.kind !== 'yes');
    const words = answered.map(
      ({ notice, standing }): Word => ({
        rail: notice.rail,
        reference: notice.reference,
        told: notice.word,
        standing,
      }),
    );
    await this.#deps.system.transaction('apply checked notices', (tx) =>
      applyWords(this.#deps, this.#keys, tx, words, {
        claimToken: null,
        conclude: (results) =>
          concludeNotices(
            tx,
            [
              ...answered.map(({ notice }, index) => ({
                ...notice,
                outcome: doneWith(results[index]),
                next: null,
              })),
              ...silent.map((notice) => ({
                ...notice,
                outcome: null,
                next: { task: 'ask' as const, afterMs: backoffMs(notice.attempts + 1, 1000, 60_000) },
              })),
            ],
            claimToken,
          ),
      }),
    );
    return notices.length;
  }

  async #work(
    kind: 'ask' | 'close',
    answer: (due: readonly DueTask[]) => Promise<readonly RailAnswer<Standing>[]>,
  ): Promise<number> {
    if (this.#circuit.resting) return 0;
    const claimToken = freshToken();
    const due = await this.#deps.system.transaction('claim questions', (tx) =>
      claimTasks(tx, claimToken, this.#rail, kind, this.#most),
    );
    if (due.length === 0) return 0;
    const answers = await answer(due);
    const words: Word[] = [];
    const silent: DueTask[] = [];
    for (const [index, task] of due.entries()) {
      const given = answers[index] ?? UNANSWERED;
      const reference = this.#referenceOf(task);
      if (given.kind === 'yes')
        words.push({ rail: this.#rail, reference, told: null, standing: given.value });
      else silent.push(task);
    }
    await this.#deps.system.transaction('apply answers', (tx) =>
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
    return due.length;
  }

  /** A rail that is away is asked about one now and then; claiming all that wait would only load the database. */
  get #most(): number {
    return this.#circuit.open ? 1 : this.#deps.rails[this.#rail].abilities.askAtOnce;
  }

  async #closeThenAsk(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    if (references.length === 0) return [];
    const closed = await this.#call(() => this.#deps.rails[this.#rail].close(references), references);
    const shut = references.filter((_, index) => closed[index]?.kind === 'yes');
    const standings = await this.#ask(shut);
    const byReference = new Map(shut.map((reference, index) => [reference, standings[index] ?? UNANSWERED]));
    return references.map((reference) => byReference.get(reference) ?? UNANSWERED);
  }

  async #ask(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    if (references.length === 0) return [];
    return this.#call(() => this.#deps.rails[this.#rail].ask(references), references);
  }

  async #call(
    ask: () => Promise<readonly RailAnswer<Standing>[]>,
    references: readonly string[],
  ): Promise<readonly RailAnswer<Standing>[]> {
    if (!this.#circuit.allows()) return references.map(() => UNANSWERED);
    const answers = await ask();
    const unclear = answers.filter((answer) => answer.kind === 'unknown');
    if (unclear.length === answers.length) this.#circuit.failed();
    else this.#circuit.succeeded();
    if (unclear.length > 0)
      this.#deps.log.warn(
        { rail: this.#rail, operation: 'ask', count: unclear.length, reason: unclear[0]?.cause ?? '' },
        'the rail gave no clear answer',
      );
    return answers;
  }

  #referenceOf(task: DueTask): string {
    return task.brebKey ?? pseReference(task.id, task.organizationNumber);
  }
}

function doneWith(result: string | undefined): 'applied' | 'known' | 'unfounded' {
  return result === 'applied' || result === 'unfounded' ? result : 'known';
}
