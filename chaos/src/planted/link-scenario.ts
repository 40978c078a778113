import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type ClientJournal, openClientJournal } from '../client-journal.ts';
import { LinkClient, type MerchantLink } from '../link-client.ts';
import { restPayins } from '../payin-rest.ts';
import { type RailControl, railControl } from '../rail-control.ts';
import { type Sinks, startSinks } from '../sinks.ts';
import type { Stage } from '../stage.ts';
import { judge, keepJournals, type Verdict } from '../verdict.ts';
import { WebhookClient } from '../webhook-client.ts';
import { restWebhooks } from '../webhook-rest.ts';

const COMES_WITHIN_MS = 10_000;
const AMOUNT_IN_CENTS = 4_980_000;

/** A shop with links on a stage on which little else happens: what a planted bug of links needs to show itself. */
export class LinkScenario {
  readonly #stage: Stage;
  readonly #sinks: Sinks;
  readonly #journal: ClientJournal;
  readonly #folder: string;
  readonly #client: LinkClient;
  readonly #rails: RailControl;
  #names = 0;
  #seen: Verdict | null = null;

  private constructor(stage: Stage, sinks: Sinks, folder: string) {
    this.#stage = stage;
    this.#sinks = sinks;
    this.#folder = folder;
    this.#journal = openClientJournal(join(folder, 'client.jsonl'));
    this.#client = new LinkClient(stage, this.#journal);
    this.#rails = railControl(stage.simulatorUrl);
  }

  static async on(stage: Stage): Promise<LinkScenario> {
    const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-scenario-'));
    const scenario = new LinkScenario(stage, await startSinks(folder), folder);
    await new WebhookClient(stage, scenario.#journal, scenario.#sinks).create(
      stage.organization,
      'all',
      null,
    );
    return scenario;
  }

  link(hasCustomer = true): Promise<MerchantLink> {
    this.#names += 1;
    const request = { name: `scenario-${this.#names}`, amountInCents: AMOUNT_IN_CENTS, hasCustomer };
    return this.#client.create(this.#stage.organization, request);
  }

  begin(link: MerchantLink, rail: 'BRE_B' | 'PSE' = 'BRE_B'): Promise<boolean> {
    return this.#client.begin(link, rail);
  }

  close(link: MerchantLink): Promise<boolean> {
    return this.#client.close(link);
  }

  /** What was begun last is paid with this much of the amount, once the network knows of it. */
  async payAttempt(link: MerchantLink, share = 1): Promise<void> {
    const { key } = (await this.#client.attempt(link)) ?? {};
    if (!key) throw new Error('the link has no attempt that has a key');
    const amount = ((AMOUNT_IN_CENTS * share) / 100).toFixed(2);
    await this.#until(async () => (await this.#rails.pay({ key, amount })).includes(true));
  }

  /** Every attempt at it has ended. */
  async settled({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(
      `select where not exists (
         select from caudal.payins where payment_link_id = '${id}' and status in ('PENDING', 'PROCESSING'))`,
    );
  }

  /** Nothing is under way any more. */
  async free({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(`select from caudal.payment_links where id = '${id}' and open_payin_id is null`);
  }

  async ended({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(`select from caudal.payment_links where id = '${id}' and status <> 'PENDING'`);
  }

  /** Looks when somebody waits for the books after this was done. */
  async whileBooksAreHeld(act: () => Promise<void>): Promise<void> {
    const holder = new Client({ connectionString: this.#stage.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from caudal.ledger_balances for update');
      await act();
      await this.#untilRow(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      await this.look();
    } finally {
      await holder.end();
    }
  }

  /** Judges while things are under way: some mistakes leave no trace once all has ended. */
  async look(): Promise<void> {
    const seen = await judge(this.#stage, this.#journal.path, 'going on', this.#sinks.journal);
    if (!seen.whole) this.#seen ??= seen;
  }

  async verdict(restsWithinMs?: number): Promise<Verdict> {
    if (this.#seen) return this.#seen;
    await restPayins(this.#stage, this.#rails, restsWithinMs);
    await restWebhooks(this.#stage, restsWithinMs);
    return judge(this.#stage, this.#journal.path, 'at rest', this.#sinks.journal);
  }

  keepJournals(name: string): string {
    return keepJournals(this.#stage, this.#journal.path, name, this.#sinks.journal);
  }

  async end(): Promise<void> {
    this.#journal.close();
    await this.#sinks.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #untilRow(condition: string): Promise<void> {
    return this.#until(async () => (await this.#stage.query(condition)).length > 0, condition);
  }

  async #until(holds: () => Promise<boolean>, what = 'the network takes it'): Promise<void> {
    const deadline = performance.now() + COMES_WITHIN_MS;
    while (!(await holds())) {
      if (performance.now() > deadline) throw new Error(`it never came to: ${what}`);
      await sleep(20);
    }
  }
}
