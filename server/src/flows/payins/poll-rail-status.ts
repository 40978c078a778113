import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { type DueTask, leaseTasks, postponeTasks } from '../../payins/payin-outcome.store.ts';
import type { CollectionStatus, Rail, RailAnswer } from '../../rails/contract.ts';
import { isolateFailures, POSTPONE_MS } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { UNANSWERED, verifyNotices } from '../shared/verify-notices.ts';
import { applyPayinUpdates, type PayinUpdate } from './apply-payin-updates.ts';

/** Nothing was ever sent, so what the rail would say is known without asking. */
const NEVER_SENT: RailAnswer<CollectionStatus> = {
  kind: 'yes',
  value: { reference: '', state: 'not_found', payments: [], opened: null, errorCode: null },
};

interface Asked {
  readonly item: DueTask;
  readonly answer: RailAnswer<CollectionStatus>;
}

/**
 * Asks one rail, many in a call: about payins that have heard nothing, about messages that are doubtful, and to close
 * what has expired or was paid. What it answers is applied; what it does not answer is asked again later.
 */
export class RailStatusPoller {
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
  async pollDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    return this.#work('ask', (due) => this.#ask(due.map((task) => this.#referenceOf(task))));
  }

  /**
   * Ends what has expired. A collection is closed at the rail first and asked about then, so that no payment can come
   * between the question and the end; only "closed and unpaid" ends the payin. What was never sent needs no asking, and
   * so waits for no rail.
   */
  async closeDue(): Promise<number> {
    const canClose = this.#deps.rails[this.#rail].capabilities.maxCloseBatch > 0;
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
  async verifyNotices(): Promise<number> {
    if (this.#caller.resting) return 0;
    return verifyNotices(this.#deps, {
      about: 'payin',
      rail: this.#rail,
      limit: this.#limit,
      maxProcessingMs: this.#deps.rails[this.#rail].capabilities.maxProcessingMs,
      ask: (references) => this.#ask(references),
      apply: (tx, updates, options) => applyPayinUpdates(this.#deps, this.#keys, tx, updates, options),
    });
  }

  async #work(
    kind: 'ask' | 'close',
    ask: (due: readonly DueTask[]) => Promise<readonly RailAnswer<CollectionStatus>[]>,
  ): Promise<number> {
    const leaseToken = freshToken();
    const due = await this.#deps.system.transaction('lease polls', (tx) =>
      leaseTasks(tx, leaseToken, this.#rail, kind, this.#limit),
    );
    if (due.length === 0) return 0;
    const answers = await ask(due);
    const asked = due.map((item, index) => ({ item, answer: answers[index] ?? UNANSWERED }));
    await this.#applyAnswers(asked, leaseToken).catch((error: unknown) =>
      isolateFailures(
        error,
        asked,
        (each) => this.#applyAnswers([each], leaseToken),
        async ({ item }, alone) => {
          this.#deps.log.error(
            { ...errorFields(alone), payinId: item.id, rail: this.#rail },
            'what a rail answered cannot be applied',
          );
          await this.#deps.system.transaction('apply statuses', (tx) =>
            postponeTasks(tx, [{ ...item, afterMs: POSTPONE_MS }], leaseToken),
          );
        },
      ),
    );
    return due.length;
  }

  #applyAnswers(asked: readonly Asked[], leaseToken: string): Promise<unknown> {
    const { maxProcessingMs } = this.#deps.rails[this.#rail].capabilities;
    const updates: PayinUpdate[] = [];
    const silent: DueTask[] = [];
    for (const { item: task, answer } of asked) {
      const reference = this.#referenceOf(task);
      // Counted until the query began: the answer to one that began in time may be older than the payment.
      const pastProcessingWindow = (task.endedMsAgo ?? 0) >= maxProcessingMs;
      if (answer.kind === 'yes')
        updates.push({
          rail: this.#rail,
          reference,
          notification: null,
          railStatus: answer.value,
          pastProcessingWindow,
        });
      else silent.push(task);
    }
    return this.#deps.system.transaction('apply statuses', (tx) =>
      applyPayinUpdates(this.#deps, this.#keys, tx, updates, {
        leaseToken,
        conclude: () =>
          postponeTasks(
            tx,
            silent.map((task) => ({ ...task, afterMs: backoffMs(task.attempts + 1, 2000, 60_000) })),
            leaseToken,
          ),
      }),
    );
  }

  get #limit(): number {
    return this.#caller.atMost(this.#deps.rails[this.#rail].capabilities.maxStatusBatch);
  }

  async #closeThenAsk(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    if (references.length === 0) return [];
    const closed = await this.#call('close', references);
    const shut = references.filter((_, index) => closed[index]?.kind === 'yes');
    const standings = await this.#ask(shut);
    const byReference = new Map(shut.map((reference, index) => [reference, standings[index] ?? UNANSWERED]));
    return references.map((reference) => byReference.get(reference) ?? UNANSWERED);
  }

  #ask(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call('ask', references);
  }

  #call(
    operation: 'ask' | 'close',
    references: readonly string[],
  ): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#caller.call(operation, references, (items) =>
      this.#deps.rails[this.#rail][operation](items),
    );
  }

  #referenceOf(task: DueTask): string {
    return task.brebKey ?? resourceReference(task.id, task.organizationNumber);
  }
}
