import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type ClientJournal, openClientJournal } from '../client-journal.ts';
import { PayoutClient } from '../payout-client.ts';
import type { SinkFault } from '../sink.ts';
import { type Sinks, startSinks } from '../sinks.ts';
import type { Stage } from '../stage.ts';
import { judge, type Verdict } from '../verdict.ts';
import { type MerchantEndpoint, WebhookClient } from '../webhook-client.ts';
import { restWebhooks } from '../webhook-rest.ts';

const COMES_WITHIN_MS = 10_000;

/** A stage on which little happens, step by step: what a planted bug of webhooks needs to show itself. */
export class WebhookScenario {
  readonly merchants: WebhookClient;
  readonly #stage: Stage;
  readonly #sinks: Sinks;
  readonly #journal: ClientJournal;
  readonly #folder: string;
  readonly #payouts: PayoutClient;
  #names = 0;

  private constructor(stage: Stage, sinks: Sinks, folder: string) {
    this.#stage = stage;
    this.#sinks = sinks;
    this.#folder = folder;
    this.#journal = openClientJournal(join(folder, 'client.jsonl'));
    this.#payouts = new PayoutClient(this.#journal, stage.apis);
    this.merchants = new WebhookClient(stage, this.#journal, sinks);
  }

  static async on(stage: Stage): Promise<WebhookScenario> {
    const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-scenario-'));
    return new WebhookScenario(stage, await startSinks(folder), folder);
  }

  endpoint(events: readonly string[] | null = null): Promise<MerchantEndpoint> {
    return this.merchants.create(this.#stage.organization, this.#name(), events);
  }

  /** What becomes of the next requests to this endpoint. */
  strike({ sink }: MerchantEndpoint, fault: Omit<SinkFault, 'sink'>): Promise<void> {
    return this.#sinks.strike({ sink, ...fault });
  }

  clearFaults(): Promise<void> {
    return this.#sinks.clearFaults();
  }

  /** Something ends at once and has its event: a payout that nothing covers is declined as it is created. */
  async happen(): Promise<void> {
    const name = this.#name();
    const { organization } = this.#stage;
    const about = { reference: name, amountInCents: 50_000, key: '@TESTOK', lookupId: null };
    await this.#payouts.insist({ organization, idempotencyKey: `key-${name}`, ...about });
  }

  /** Somebody is sending to it. */
  async underWay({ id }: MerchantEndpoint): Promise<void> {
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
    await Promise.all(this.#stage.workers.map((worker) => worker.kill()));
  }

  async restartWorkers(): Promise<void> {
    await Promise.all(this.#stage.workers.map((worker) => worker.restart()));
  }

  /** Started and dead of this failpoint. */
  async dieAt(failpoint: string): Promise<void> {
    for (const worker of this.#stage.workers) {
      // It may die before it has said that it is ready.
      await worker.restart({ CAUDAL_FAILPOINT: failpoint }).catch(() => undefined);
      await worker.gone();
    }
  }

  /** Claims of the dead, thirty seconds later. */
  async ageLeases(): Promise<void> {
    await this.#stage.query(
      `update caudal.webhook_queues set leased_until = clock_timestamp() - interval '1 second' where leased_until is not null`,
    );
  }

  /** Holds the endpoint's line until so many wait for it, each after what is done in between. */
  async whileHeld({ id }: MerchantEndpoint, ...acts: readonly (() => Promise<unknown>)[]): Promise<void> {
    const holder = new Client({ connectionString: this.#stage.databaseUrl });
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

  /** The checker's word when all has come to rest, or has not within this time. */
  async verdict(restsWithinMs?: number): Promise<Verdict> {
    await restWebhooks(this.#stage, restsWithinMs);
    return judge(this.#stage, this.#journal.path, 'at rest', this.#sinks.journal);
  }

  async end(): Promise<void> {
    this.#journal.close();
    await this.#sinks.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #until(condition: string): Promise<void> {
    const deadline = performance.now() + COMES_WITHIN_MS;
    while ((await this.#stage.query(condition)).length === 0) {
      if (performance.now() > deadline) throw new Error(`it never came to: ${condition}`);
      await sleep(20);
    }
  }

  #name(): string {
    this.#names += 1;
    return `scenario-${this.#names}`;
  }
}
