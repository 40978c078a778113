import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { runInTraces, unpackTraceContext } from '../../kit/trace-context.ts';
import { traceShared } from '../../kit/tracer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { type DueTask, leaseTasks, postponeTasks } from '../../payins/payin-outcome.store.ts';
import type { CollectionStatus, Rail, RailAnswer } from '../../rails/contract.ts';
import { POSTPONE_MS, processIsolated } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { UNANSWERED, verifyNotices } from '../shared/verify-notices.system.ts';
import { applyPayinUpdates, type PayinUpdate } from './apply-payin-updates.system.ts';

/** The known status of a collection that was never sent to the rail. */
const NEVER_SENT: RailAnswer<CollectionStatus> = {
  kind: 'yes',
  value: { reference: '', state: 'not_found', payments: [], opened: null, errorCode: null },
};

interface PolledTask {
  readonly item: DueTask;
  readonly answer: RailAnswer<CollectionStatus>;
}

/**
 * Polls one rail in batches: queries payins without notification, verifies unexpected notices, and closes collections that
 * expired or were paid. Answers are applied; calls without a conclusive answer are retried later.
 */
export class RailStatusPoller {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #rail: Rail;
  readonly #caller: RailCaller;

  constructor(deps: SystemDeps, dataKeys: DataKeys, rail: Rail) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#rail = rail;
    this.#caller = new RailCaller(deps, rail, 3);
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns the number of due payins; call again immediately while it is not zero */
  async pollDue(): Promise<number> {
    if (this.#caller.resting) return 0;
    return this.#process('poll', (due) => this.#query(due.map((task) => this.#toReference(task))));
  }

  /**
   * Ends expired payins. A collection is closed at the rail first and queried afterwards, so that no payment can arrive
   * between the query and the end; only "closed and unpaid" ends the payin. A payin that was never sent needs no query, so
   * it does not depend on the rail's availability.
   */
  async closeDue(): Promise<number> {
    const canClose = this.#deps.rails[this.#rail].capabilities.maxCloseBatch > 0;
    if (canClose && this.#caller.resting) return 0;
    return this.#process('close', async (due) => {
      const toQuery = due.filter((task) => canClose || task.sent);
      const references = toQuery.map((task) => this.#toReference(task));
      const statuses = canClose ? await this.#closeThenQuery(references) : await this.#query(references);
      const byTask = new Map(toQuery.map((task, index) => [task, statuses[index] ?? UNANSWERED]));
      return due.map((task) => byTask.get(task) ?? NEVER_SENT);
    });
  }

  /** Verifies unexpected notices with the rail's status. */
  async verifyNotices(): Promise<number> {
    if (this.#caller.resting) return 0;
    return verifyNotices(this.#deps, {
      about: 'payin',
      rail: this.#rail,
      limit: this.#limit,
      maxProcessingMs: this.#deps.rails[this.#rail].capabilities.maxProcessingMs,
      queryStatus: (references) => this.#query(references),
      apply: (tx, updates, options) => applyPayinUpdates(this.#deps, this.#dataKeys, tx, updates, options),
    });
  }

  async #process(
    task: 'poll' | 'close',
    poll: (due: readonly DueTask[]) => Promise<readonly RailAnswer<CollectionStatus>[]>,
  ): Promise<number> {
    const leaseToken = newLeaseToken();
    const due = await this.#deps.system.transaction('lease polls', (tx) =>
      leaseTasks(tx, leaseToken, this.#rail, task, this.#limit),
    );
    if (due.length === 0) return 0;
    const traces = due.map((item) => ({
      reference: this.#toReference(item),
      traceContext: item.traceContext,
    }));
    const answers = await runInTraces(traces, () => poll(due));
    const polled = due.map((item, index) => ({ item, answer: answers[index] ?? UNANSWERED }));
    await processIsolated(
      polled,
      (some) =>
        traceShared(
          this.#deps.tracer,
          some.map(({ item }) => unpackTraceContext(item.traceContext)),
          { name: 'commit apply statuses', kind: 'internal' },
          () => this.#applyAnswers(some, leaseToken),
        ),
      async ({ item }, error) => {
        this.#deps.log.error(
          { ...errorFields(error), code: 'rail_status_apply_failed', payinId: item.id, rail: this.#rail },
          'failed to apply rail status; postponed',
        );
        await this.#deps.system.transaction('apply statuses', (tx) =>
          postponeTasks(tx, [{ ...item, afterMs: POSTPONE_MS }], leaseToken),
        );
      },
    );
    return due.length;
  }

  #applyAnswers(polled: readonly PolledTask[], leaseToken: string): Promise<unknown> {
    const { maxProcessingMs } = this.#deps.rails[this.#rail].capabilities;
    const updates: PayinUpdate[] = [];
    const unanswered: DueTask[] = [];
    for (const { item: task, answer } of polled) {
      const reference = this.#toReference(task);
      // Measured when the query started: the answer to an earlier query may be older than the payment.
      const pastProcessingWindow = (task.endedMsAgo ?? 0) >= maxProcessingMs;
      if (answer.kind === 'yes')
        updates.push({
          rail: this.#rail,
          reference,
          notification: null,
          railStatus: answer.value,
          pastProcessingWindow,
        });
      else unanswered.push(task);
    }
    return this.#deps.system.transaction('apply statuses', (tx) =>
      applyPayinUpdates(this.#deps, this.#dataKeys, tx, updates, {
        leaseToken,
        conclude: () =>
          postponeTasks(
            tx,
            unanswered.map((task) => ({ ...task, afterMs: backoffMs(task.attempts + 1, 2000, 60_000) })),
            leaseToken,
          ),
      }),
    );
  }

  get #limit(): number {
    return this.#caller.batchLimit(this.#deps.rails[this.#rail].capabilities.maxStatusBatch);
  }

  async #closeThenQuery(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    if (references.length === 0) return [];
    const answers = await this.#call('close', references);
    const closed = references.filter((_, index) => answers[index]?.kind === 'yes');
    const statuses = await this.#query(closed);
    const byReference = new Map(closed.map((reference, index) => [reference, statuses[index] ?? UNANSWERED]));
    return references.map((reference) => byReference.get(reference) ?? UNANSWERED);
  }

  #query(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call('queryStatus', references);
  }

  #call(
    operation: 'queryStatus' | 'close',
    references: readonly string[],
  ): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#caller.call(operation, references, (items) =>
      this.#deps.rails[this.#rail][operation](items),
    );
  }

  #toReference(task: DueTask): string {
    return task.brebKey ?? resourceReference(task.id, task.organizationNumber);
  }
}
