import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { PayoutClient } from '../clients/payout-client.ts';
import { type MerchantEndpoint, WebhookClient } from '../clients/webhook-client.ts';
import { drainWebhooks } from '../run/drain-webhooks.ts';
import { type CheckResult, runChecker } from '../run/run-checker.ts';
import type { Stack } from '../stack/stack.ts';
import type { SinkFault } from '../webhooks/sink.ts';
import { type Sinks, startSinks } from '../webhooks/sinks.ts';

const CONDITION_TIMEOUT_MS = 10_000;

/** An otherwise idle stack that runs scripted actions, for the planted bugs of webhooks. */
export class WebhookScenario {
  readonly merchants: WebhookClient;
  readonly #stack: Stack;
  readonly #sinks: Sinks;
  readonly #journal: ClientJournal;
  readonly #folder: string;
  readonly #payouts: PayoutClient;
  #names = 0;

  private constructor(stack: Stack, sinks: Sinks, folder: string) {
    this.#stack = stack;
    this.#sinks = sinks;
    this.#folder = folder;
    this.#journal = openClientJournal(join(folder, 'client.jsonl'));
    this.#payouts = new PayoutClient(this.#journal, stack.apis);
    this.merchants = new WebhookClient(stack, this.#journal, sinks);
  }

  static async on(stack: Stack): Promise<WebhookScenario> {
    const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-scenario-'));
    return new WebhookScenario(stack, await startSinks(folder), folder);
  }

  endpoint(events: readonly string[] | null = null): Promise<MerchantEndpoint> {
    return this.merchants.create(this.#stack.organization, this.#name(), events);
  }

  /** Adds a fault for the next requests to this endpoint. */
  addFault({ sink }: MerchantEndpoint, fault: Omit<SinkFault, 'sink'>): Promise<void> {
    return this.#sinks.addFault({ sink, ...fault });
  }

  clearFaults(): Promise<void> {
    return this.#sinks.clearFaults();
  }

  /** Creates an event: a payout without funds is declined immediately. */
  async createEvent(): Promise<void> {
    const name = this.#name();
    const { organization } = this.#stack;
    const about = { reference: name, amountInCents: 50_000, key: '@TESTOK', lookupId: null };
    await this.#payouts.sendUntilAnswered({ organization, idempotencyKey: `key-${name}`, ...about });
  }

  /** Waits until a worker holds the lease of its queue. */
  async sending({ id }: MerchantEndpoint): Promise<void> {
    await this.#until(
      `select from caudal.webhook_queues where endpoint_id = '${id}' and lease_token is not null`,
    );
  }

  async delivered({ id }: MerchantEndpoint, count: number): Promise<void> {
    await this.#until(
      `select from caudal.webhook_deliveries where endpoint_id = '${id}' and status = 'DELIVERED' having count(*) >= ${count}`,
    );
  }

  async dispatched(): Promise<void> {
    await this.#until('select where not exists (select from caudal.events where undispatched)');
  }

  async killWorkers(): Promise<void> {
    await Promise.all(this.#stack.workers.map((worker) => worker.kill()));
  }

  async restartWorkers(): Promise<void> {
    await Promise.all(this.#stack.workers.map((worker) => worker.restart()));
  }

  /** Restarts the workers and waits until they have died at this failpoint. */
  async dieAt(failpoint: string): Promise<void> {
    for (const worker of this.#stack.workers) {
      // It may die before it reports that it is ready.
      await worker.restart({ CAUDAL_FAILPOINT: failpoint }).catch(() => undefined);
      await worker.exited();
    }
  }

  /** Expires all leases, as thirty seconds after the death of their workers. */
  async ageLeases(): Promise<void> {
    await this.#stack.query(
      `update caudal.webhook_queues set leased_until = clock_timestamp() - interval '1 second' where leased_until is not null`,
    );
  }

  /** Locks the endpoint's queue and runs the actions; after each, waits for one more transaction to wait for the lock. */
  async whileLocked({ id }: MerchantEndpoint, ...acts: readonly (() => Promise<unknown>)[]): Promise<void> {
    const holder = new Client({ connectionString: this.#stack.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from caudal.webhook_queues where endpoint_id = $1 for update', [id]);
      for (const [index, act] of acts.entries()) {
        await act();
        await this.#until(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' having count(*) > ${index}`,
        );
      }
      await holder.query('commit');
    } finally {
      await holder.end();
    }
  }

  /** Waits until the stack is drained or the timeout has passed, then runs the checker. */
  async drainAndCheck(idleTimeoutMs?: number): Promise<CheckResult> {
    await drainWebhooks(this.#stack, idleTimeoutMs);
    return runChecker(this.#stack, this.#journal.path, 'drained', this.#sinks.journal);
  }

  async end(): Promise<void> {
    this.#journal.close();
    await this.#sinks.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #until(condition: string): Promise<void> {
    const deadline = performance.now() + CONDITION_TIMEOUT_MS;
    while ((await this.#stack.query(condition)).length === 0) {
      if (performance.now() > deadline) throw new Error(`condition not reached: ${condition}`);
      await sleep(20);
    }
  }

  #name(): string {
    this.#names += 1;
    return `scenario-${this.#names}`;
  }
}
