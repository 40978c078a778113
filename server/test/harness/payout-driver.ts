import type { ApiClient } from './api-client.ts';
import { runOperatorCommand } from './operator-command.ts';
import { CUSTOMER, newReference } from './payin-requests.ts';
import { SimulatorControl } from './simulator-control.ts';
import type { Stack } from './stack.ts';
import { until } from './until.ts';

export interface SeenPayout {
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

/** A payout with the name under which the rail knows it. */
export interface MadePayout {
  readonly payout: SeenPayout;
  readonly id: string;
  readonly endToEndId: string;
}

interface PayoutWish {
  readonly key?: string;
  readonly amountInCents?: number;
  readonly lookupId?: string;
}

interface Attempt {
  readonly number: number;
  readonly answer: string | null;
  readonly error_code: string | null;
}

/** What a test of payouts does all the time: create, let the rail act, wait for what comes of it. */
export class PayoutDriver {
  readonly simulator: SimulatorControl;
  readonly #stack: Stack;
  readonly #api: ApiClient;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#api = stack.api;
    this.simulator = new SimulatorControl(stack.simulatorUrl);
  }

  /** Money on the balance of the stack's organization, for payouts to take from. */
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

  async create({ key = '@TESTOK', amountInCents = 120_050, lookupId }: PayoutWish = {}): Promise<MadePayout> {
    const answer = await this.#api.post<SeenPayout>('/payouts', {
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

  createMany(count: number, wish: PayoutWish = {}): Promise<MadePayout[]> {
    return Promise.all(Array.from({ length: count }, () => this.create(wish)));
  }

  async lookUp(key: string): Promise<string> {
    const { status, body, text } = await this.#api.get<{ lookupId: string }>(
      `/breb/keys/${encodeURIComponent(key)}`,
    );
    if (status !== 200) throw new Error(`GET /breb/keys: ${status} ${text}`);
    return body.lookupId;
  }

  async get(id: string): Promise<SeenPayout> {
    const { status, body } = await this.#api.get<SeenPayout>(`/payouts/${id}`);
    if (status !== 200) throw new Error(`GET /payouts/${id}: ${status}`);
    return body;
  }

  reaches(id: string, status: string, withinMs = 10_000): Promise<SeenPayout> {
    return until(
      `${id} is ${status}`,
      async () => {
        const payout = await this.get(id);
        return payout.status === status ? payout : null;
      },
      withinMs,
    );
  }

  /** Asked of the database at once, for hundreds of them. */
  async allReach(payouts: readonly MadePayout[], status: string, withinMs = 30_000): Promise<void> {
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

  /** Until the order is at the rail. */
  async arrives({ endToEndId }: MadePayout): Promise<void> {
    await until('the order is at the rail', () => this.simulator.order(endToEndId));
  }

  /** Until everything the rail said has been heard, applied and asked about. */
  async quiet(withinMs = 15_000): Promise<void> {
    await until(
      'everything is applied',
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

  /** A message that the rail does not bear out is asked about until the rail's longest time has passed: it passes. */
  async nothingMoreToHear(): Promise<void> {
    await until('the rail was asked', async () => {
      const { notices } = await this.simulator.stats();
      const [row] = await this.query<{ asked: boolean }>(
        "select coalesce(bool_and(task = 'ask' and attempts > 1), true) as asked from caudal.rail_notices where task is not null",
      );
      return notices.queued <= notices.acknowledged && row?.asked;
    });
    await this.#stack.shiftTime(65_000);
    await this.quiet();
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#stack.database.query<Row>(text, values);
  }

  /** How often money left for it. */
  async executions({ endToEndId }: Pick<MadePayout, 'endToEndId'>): Promise<number> {
    return (await this.simulator.executions()).filter((each) => each.endToEndId === endToEndId).length;
  }

  attempts(id: string): Promise<Attempt[]> {
    return this.query(
      'select number, answer, error_code from caudal.payout_attempts where payout_id = $1 order by number',
      [id],
    );
  }

  /** Why it changed, first to last. */
  async causes(id: string): Promise<string[]> {
    const rows = await this.query<{ cause: string }>(
      "select cause from caudal.payout_history where payout_id = $1 order by from_status = 'PROCESSING'",
      [id],
    );
    return rows.map(({ cause }) => cause);
  }

  async events(id: string): Promise<string[]> {
    const rows = await this.query<{ event: string }>(
      'select event from caudal.events where resource_id = $1 order by id',
      [id],
    );
    return rows.map(({ event }) => event);
  }

  /** Each as `debit → credit cents`. */
  async moves(resourceId: string): Promise<string[]> {
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

  /** In cents: what the stack's organization may spend, and what is set aside. */
  async balance(): Promise<{ available: number; held: number }> {
    const rows = await this.query<{ account: string; cents: string }>(
      'select account, balance_in_cents::text as cents from caudal.ledger_balances where organization_id = $1',
      [this.#stack.organization.organizationId],
    );
    const of = (account: string) => Number(rows.find((row) => row.account === account)?.cents);
    return { available: of('available'), held: of('held') };
  }

  /** What `suspense` holds in all; below zero, what it owes. */
  async suspense(): Promise<number> {
    const [row] = await this.query<{ cents: string }>(
      `select coalesce(sum(case when credit_account = 'suspense' then amount_in_cents else -amount_in_cents end), 0)::text as cents
       from caudal.ledger_transfers where 'suspense' in (debit_account, credit_account)`,
    );
    return Number(row?.cents);
  }

  /** What `ledger verify` has to complain about. On a busy machine its connection may fail: then it is asked again. */
  brokenBooks(): Promise<unknown[]> {
    return until('the books are read', async () => {
      const told = JSON.parse(await this.command('ledger', 'verify', '--json')) as { broken: unknown[] };
      return told.broken;
    });
  }

  /** For after a test, whatever it was about. */
  async booksAreWhole(): Promise<void> {
    const broken = await this.brokenBooks();
    if (broken.length > 0) throw new Error(`the books are broken: ${JSON.stringify(broken)}`);
  }

  /** An operator's command. @throws with what it says when it refuses; `ledger verify` also when books are broken */
  async command(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runOperatorCommand(this.#stack.settings, ...args);
    if (code !== 0 && stdout === '') throw new Error(stderr);
    return stdout;
  }
}
