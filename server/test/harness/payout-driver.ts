import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import type { ApiClient } from './api-client.ts';
import { runOperatorCommand } from './operator-command.ts';
import { CUSTOMER, newReference } from './payin-requests.ts';
import { SimulatorControl } from './simulator-control.ts';
import type { Stack } from './stack.ts';
import { until } from './until.ts';

export interface PayoutView {
  readonly id: string;
  readonly status: string;
  readonly amountInCents: number;
  readonly errorCode: string | null;
  readonly reference: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly resultAt: string | null;
  readonly organizationId: string;
  readonly sourceData: { readonly keyString: string; readonly endToEndId: string | null };
}

/** A payout with the end-to-end ID under which the rail knows it. */
export interface CreatedPayout {
  readonly payout: PayoutView;
  readonly id: string;
  readonly endToEndId: string;
}

interface PayoutOptions {
  readonly key?: string;
  readonly amountInCents?: number;
  readonly lookupId?: string;
}

interface Attempt {
  readonly number: number;
  readonly answer: string | null;
  readonly error_code: string | null;
}

/** Test driver for payouts: creates payouts, triggers rail events and waits for the result. */
export class PayoutDriver {
  readonly simulator: SimulatorControl;
  readonly #stack: Stack;
  readonly #api: ApiClient;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#api = stack.api;
    this.simulator = new SimulatorControl(stack.simulatorUrl);
  }

  /** Deposits money into the balance of the stack's organization. */
  async fund(pesos = 1_000_000): Promise<void> {
    const org = this.#stack.organization.organizationId;
    await this.command(
      'ledger',
      'deposit',
      '--org',
      org,
      '--amount',
      String(pesos),
      '--reference',
      newReference(),
    );
  }

  async create({
    key = '@TESTOK',
    amountInCents = 120_050,
    lookupId,
  }: PayoutOptions = {}): Promise<CreatedPayout> {
    const answer = await this.#api.post<PayoutView>('/payouts', {
      amountInCents,
      currency: 'COP',
      rail: 'BRE_B',
      reference: newReference(),
      inlineCustomer: CUSTOMER,
      breb: { keyString: key, ...(lookupId === undefined ? {} : { lookupId }) },
    });
    if (answer.status !== 201) throw new Error(`POST /payouts: ${answer.status} ${answer.text}`);
    const { id } = answer.body;
    const [row] = await this.query<{ end_to_end_id: string }>(
      'select end_to_end_id from caudal.payouts where id = $1',
      [id],
    );
    return { payout: answer.body, id, endToEndId: row?.end_to_end_id ?? '' };
  }

  createMany(count: number, options: PayoutOptions = {}): Promise<CreatedPayout[]> {
    return Promise.all(Array.from({ length: count }, () => this.create(options)));
  }

  async lookUp(key: string): Promise<string> {
    const { status, body, text } = await this.#api.get<{ lookupId: string }>(
      `/breb/keys/${encodeURIComponent(key)}`,
    );
    if (status !== 200) throw new Error(`GET /breb/keys: ${status} ${text}`);
    return body.lookupId;
  }

  async get(id: string): Promise<PayoutView> {
    const { status, body } = await this.#api.get<PayoutView>(`/payouts/${id}`);
    if (status !== 200) throw new Error(`GET /payouts/${id}: ${status}`);
    return body;
  }

  waitForStatus(id: string, status: string, withinMs = PATIENCE_MS): Promise<PayoutView> {
    return until(
      `${id} is ${status}`,
      async () => {
        const payout = await this.get(id);
        return payout.status === status ? payout : null;
      },
      withinMs,
    );
  }

  /** Reads the database, to check hundreds of payouts with one query. */
  async waitForAll(payouts: readonly CreatedPayout[], status: string, withinMs = PATIENCE_MS): Promise<void> {
    await until(
      `${payouts.length} payouts are ${status}`,
      async () => {
        const [row] = await this.query<{ count: number }>(
          'select count(*)::int as count from caudal.payouts where id = any ($1::uuid[]) and status = $2',
          [payouts.map(({ id }) => id), status],
        );
        return row?.count === payouts.length;
      },
      withinMs,
    );
  }

  /** Waits until the rail has the order. */
  async waitForOrder({ endToEndId }: CreatedPayout): Promise<void> {
    await until('the order is at the rail', () => this.simulator.order(endToEndId));
  }

  /** Waits until the server has received and applied all notifications and has no due polls. */
  async waitUntilIdle(withinMs = PATIENCE_MS): Promise<void> {
    await until(
      'all notifications and polls are processed',
      async () => {
        const { notices } = await this.simulator.stats();
        if (notices.queued > notices.acknowledged) return false;
        const [row] = await this.query<{ waiting: number }>(
          `select ((select count(*) from caudal.rail_notices where task is not null)
             + (select count(*) from caudal.payouts where rail_due_at <= caudal.now()))::int as waiting`,
        );
        return row?.waiting === 0;
      },
      withinMs,
    );
  }

  /**
   * The server polls about an unconfirmed notification until the rail's processing window has passed: this
   * shifts time past the window.
   */
  async passProcessingWindow(): Promise<void> {
    await until('the rail was polled', async () => {
      const { notices } = await this.simulator.stats();
      const [row] = await this.query<{ asked: boolean }>(
        "select coalesce(bool_and(task = 'verify' and attempts > 1), true) as asked from caudal.rail_notices where task is not null",
      );
      return notices.queued <= notices.acknowledged && row?.asked;
    });
    await this.#stack.shiftTime(65_000);
    await this.waitUntilIdle();
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#stack.database.query<Row>(text, values);
  }

  /** How many times the rail executed the order. */
  async executions({ endToEndId }: Pick<CreatedPayout, 'endToEndId'>): Promise<number> {
    return (await this.simulator.executions()).filter((each) => each.endToEndId === endToEndId).length;
  }

  attempts(id: string): Promise<Attempt[]> {
    return this.query(
      'select number, answer, error_code from caudal.payout_attempts where payout_id = $1 order by number',
      [id],
    );
  }

  /** Reasons of its transitions, oldest first. */
  async causes(id: string): Promise<string[]> {
    const rows = await this.query<{ cause: string }>(
      "select cause from caudal.payout_history where payout_id = $1 order by from_status = 'PROCESSING'",
      [id],
    );
    return rows.map(({ cause }) => cause);
  }

  /** Also reads the events over the API, whose client validates them against their schemas. */
  async events(id: string): Promise<string[]> {
    await this.#api.get(`/events?resourceId=${id}`);
    const rows = await this.query<{ event: string }>(
      'select event from caudal.events where resource_id = $1 order by id',
      [id],
    );
    return rows.map(({ event }) => event);
  }

  /** Ledger transfers as `debit → credit cents`. */
  async transfers(resourceId: string): Promise<string[]> {
    const rows = await this.query<{ move: string }>(
      `select debit_account || ' → ' || credit_account || ' ' || amount_in_cents as move
       from caudal.ledger_transfers where resource_id = $1 order by id`,
      [resourceId],
    );
    return rows.map(({ move }) => move);
  }

  anomalies(
    payoutId: string,
  ): Promise<{ id: string; kind: string; cents: string | null; execution_id: string | null }[]> {
    return this.query(
      `select id, kind, amount_in_cents::text as cents, execution_id from caudal.anomalies
       where payout_id = $1 order by id`,
      [payoutId],
    );
  }

  /** Available and held cents of the stack's organization. */
  async balance(): Promise<{ available: number; held: number }> {
    const rows = await this.query<{ account: string; cents: string }>(
      'select account, balance_in_cents::text as cents from caudal.ledger_balances where organization_id = $1',
      [this.#stack.organization.organizationId],
    );
    const of = (account: string) => Number(rows.find((row) => row.account === account)?.cents);
    return { available: of('available'), held: of('held') };
  }

  /** Balance of `suspense` in cents; negative when it owes. */
  async suspense(): Promise<number> {
    const [row] = await this.query<{ cents: string }>(
      `select coalesce(sum(case when credit_account = 'suspense' then amount_in_cents else -amount_in_cents end), 0)::text as cents
       from caudal.ledger_transfers where 'suspense' in (debit_account, credit_account)`,
    );
    return Number(row?.cents);
  }

  /**
   * Inconsistencies that `ledger verify` reports. Retries, because its connection may fail on a busy machine.
   */
  ledgerInconsistencies(): Promise<unknown[]> {
    return until('ledger verify has run', async () => {
      const report = JSON.parse(await this.command('ledger', 'verify', '--json')) as { broken: unknown[] };
      return report.broken;
    });
  }

  /** For the end of any test. */
  async checkLedger(): Promise<void> {
    const broken = await this.ledgerInconsistencies();
    if (broken.length > 0) throw new Error(`ledger is inconsistent: ${JSON.stringify(broken)}`);
  }

  /** Runs an operator command. @throws its error output when it fails without standard output */
  async command(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runOperatorCommand(this.#stack.settings, ...args);
    if (code !== 0 && stdout === '') throw new Error(stderr);
    return stdout;
  }
}
