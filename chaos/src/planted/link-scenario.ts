import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { LinkClient, type MerchantLink } from '../clients/link-client.ts';
import { PageVisitor } from '../clients/page-visitor.ts';
import { WebhookClient } from '../clients/webhook-client.ts';
import { drainPayins } from '../run/drain-payins.ts';
import { drainWebhooks } from '../run/drain-webhooks.ts';
import { type CheckResult, keepJournals, runChecker } from '../run/run-checker.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { type Sinks, startSinks } from '../webhooks/sinks.ts';

const CONDITION_TIMEOUT_MS = 10_000;
const AMOUNT_IN_CENTS = 4_980_000;

/** A shop with payment links on an otherwise idle stack, for the planted bugs of links. */
export class LinkScenario {
  readonly #stack: Stack;
  readonly #sinks: Sinks;
  readonly #journal: ClientJournal;
  readonly #folder: string;
  readonly #client: LinkClient;
  readonly #visitor: PageVisitor;
  readonly #rails: RailControl;
  #names = 0;
  #violation: CheckResult | null = null;

  private constructor(stack: Stack, sinks: Sinks, folder: string) {
    this.#stack = stack;
    this.#sinks = sinks;
    this.#folder = folder;
    this.#journal = openClientJournal(join(folder, 'client.jsonl'));
    this.#client = new LinkClient(stack, this.#journal);
    this.#visitor = new PageVisitor(stack, this.#journal);
    this.#rails = railControl(stack.simulatorUrl);
  }

  static async on(stack: Stack): Promise<LinkScenario> {
    const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-scenario-'));
    const scenario = new LinkScenario(stack, await startSinks(folder), folder);
    await new WebhookClient(stack, scenario.#journal, scenario.#sinks).create(
      stack.organization,
      'all',
      null,
    );
    return scenario;
  }

  link(hasCustomer = true): Promise<MerchantLink> {
    this.#names += 1;
    const request = { name: `scenario-${this.#names}`, amountInCents: AMOUNT_IN_CENTS, hasCustomer };
    return this.#client.create(this.#stack.organization, request);
  }

  start(link: MerchantLink, rail: 'BRE_B' | 'PSE' = 'BRE_B'): Promise<boolean> {
    return this.#client.start(link, rail);
  }

  /** Opens the page in the payer's browser and records its screen. */
  async openPage(link: MerchantLink): Promise<void> {
    await this.#visitor.open(link, this.#client.cookie(link));
  }

  /** Abandons the open attempt. */
  changeMethod(link: MerchantLink): Promise<void> {
    return this.#client.change(link);
  }

  close(link: MerchantLink): Promise<boolean> {
    return this.#client.close(link);
  }

  /** Pays this share of the amount to the latest attempt, once the network knows its key. */
  async payAttempt(link: MerchantLink, share = 1): Promise<void> {
    const { key } = (await this.#client.attempt(link)) ?? {};
    if (!key) throw new Error('the link has no attempt with a key');
    const amount = ((AMOUNT_IN_CENTS * share) / 100).toFixed(2);
    await this.#until(async () => (await this.#rails.pay({ key, amount })).includes(true));
  }

  /** Starts an attempt, pays this share of the amount and waits until the attempt has ended. */
  async payShare(link: MerchantLink, share: number): Promise<void> {
    await this.start(link);
    await this.payAttempt(link, share);
    await this.free(link);
  }

  /** Pays the latest attempt although its key is closed, and waits until the payment is posted. */
  async payLate(link: MerchantLink): Promise<void> {
    const { key } = (await this.#client.attempt(link)) ?? {};
    if (!key) throw new Error('the link has no attempt with a key');
    await this.#rails.pay({ key, amount: (AMOUNT_IN_CENTS / 100).toFixed(2), anyway: true });
    await this.#untilRow(`select from caudal.anomalies where reference = '${key}' and kind = 'paid_late'`);
  }

  /** Waits until all its attempts have ended. */
  async settled({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(
      `select where not exists (
         select from caudal.payins where payment_link_id = '${id}' and status in ('PENDING', 'PROCESSING'))`,
    );
  }

  /** Waits until it has no open attempt. */
  async free({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(
      `select from caudal.payment_links where id = '${id}' and num_nonnulls(open_breb_payin_id, open_pse_payin_id) = 0`,
    );
  }

  async ended({ id }: MerchantLink): Promise<void> {
    await this.#untilRow(`select from caudal.payment_links where id = '${id}' and status <> 'PENDING'`);
  }

  /** Locks the balances, runs the action, and runs the checker when a transaction waits for the lock. */
  async whileBalancesAreLocked(act: () => Promise<void>): Promise<void> {
    const holder = new Client({ connectionString: this.#stack.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from caudal.ledger_balances for update');
      await act();
      await this.#untilRow(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      await this.checkRunning();
    } finally {
      await holder.end();
    }
  }

  /** Runs the checker while work is pending: some bugs leave no trace afterward. */
  async checkRunning(): Promise<void> {
    const result = await runChecker(this.#stack, this.#journal.path, 'running', this.#sinks.journal);
    if (!result.ok) this.#violation ??= result;
  }

  async drainAndCheck(idleTimeoutMs?: number): Promise<CheckResult> {
    if (this.#violation) return this.#violation;
    await drainPayins(this.#stack, this.#rails, idleTimeoutMs);
    await drainWebhooks(this.#stack, idleTimeoutMs);
    return runChecker(this.#stack, this.#journal.path, 'drained', this.#sinks.journal);
  }

  keepJournals(name: string): string {
    return keepJournals(this.#stack, this.#journal.path, name, this.#sinks.journal);
  }

  async end(): Promise<void> {
    this.#journal.close();
    await this.#sinks.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #untilRow(condition: string): Promise<void> {
    return this.#until(async () => (await this.#stack.query(condition)).length > 0, condition);
  }

  async #until(condition: () => Promise<boolean>, description = 'the network accepts it'): Promise<void> {
    const deadline = performance.now() + CONDITION_TIMEOUT_MS;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error(`condition not reached: ${description}`);
      await sleep(20);
    }
  }
}
