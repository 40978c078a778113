import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import type { ApiClient } from './api-client.ts';
import { brebPayin, CUSTOMER, psePayin } from './payin-requests.ts';
import { readPseReference } from './pse-reference.ts';
import { SimulatorControl } from './simulator-control.ts';
import type { Stack } from './stack.ts';
import { until } from './until.ts';

export interface PayinView {
  readonly id: string;
  readonly status: string;
  readonly amountInCents: number;
  readonly confirmedAmountInCents: number | null;
  readonly settlementStatus: string | null;
  readonly errorCode: string | null;
  readonly resultAt: string | null;
  readonly reference: string;
  readonly sourceData: {
    readonly keyString?: string;
    readonly checkoutUrl?: string;
    readonly endToEndId?: string | null;
    readonly pseUrl?: string | null;
    readonly cus?: string | null;
  };
}

/** Test driver for payin outcomes: creates payins, triggers rail events and waits for the result. */
export class PayinDriver {
  readonly simulator: SimulatorControl;
  readonly #stack: Stack;
  readonly #api: ApiClient;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#api = stack.api;
    this.simulator = new SimulatorControl(stack.simulatorUrl);
  }

  /** A Bre-B payin whose key is registered at the rail. */
  async breb(changes: Record<string, unknown> = {}): Promise<{ payin: PayinView; key: string }> {
    const payin = await this.#create(brebPayin(changes));
    const key = payin.sourceData.keyString ?? '';
    await until('the key is registered', async () => (await this.simulator.key(key)) !== null);
    return { payin, key };
  }

  /** A PSE payin whose bank page URL is known. */
  async pse(changes: Record<string, unknown> = {}): Promise<{ payin: PayinView; reference: string }> {
    const payin = await this.#create(psePayin(changes));
    const reference = await readPseReference(this.#stack.database, payin.id);
    await until('the bank page URL is known', async () => (await this.get(payin.id)).status !== 'PENDING');
    return { payin, reference };
  }

  async get(id: string): Promise<PayinView> {
    const { status, body } = await this.#api.get(`/payins/${id}`);
    if (status !== 200) throw new Error(`GET /payins/${id}: ${status}`);
    return body as unknown as PayinView;
  }

  waitForStatus(id: string, status: string, withinMs = PATIENCE_MS): Promise<PayinView> {
    return until(
      `${id} is ${status}`,
      async () => {
        const payin = await this.get(id);
        return payin.status === status ? payin : null;
      },
      withinMs,
    );
  }

  /** Waits until the server has received and applied all notifications and has no due polls. */
  async waitUntilIdle(withinMs = PATIENCE_MS): Promise<void> {
    await until(
      'all notifications and polls are processed',
      async () => {
        const { notices } = await this.simulator.stats();
        if (notices.queued > notices.acknowledged) return false;
        const [row] = await this.#stack.database.query<{ waiting: number }>(
          `select ((select count(*) from caudal.rail_notices where task is not null)
             + (select count(*) from caudal.payins where rail_due_at <= caudal.now() and rail_task in ('poll', 'close')))::int as waiting`,
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
  async passProcessingWindow(stack: Pick<Stack, 'shiftTime'>): Promise<void> {
    await until('the rail was polled', async () => {
      const [row] = await this.query<{ asked: boolean }>(
        "select coalesce(bool_and(task = 'verify' and attempts > 1), true) as asked from caudal.rail_notices where task is not null",
      );
      return row?.asked;
    });
    await stack.shiftTime(65_000);
    await this.waitUntilIdle();
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#stack.database.query<Row>(text, values);
  }

  /** Also reads the events over the API, whose client validates them against their schemas. */
  async events(payinId: string): Promise<{ event: string; created_at: Date; payload: Buffer }[]> {
    await this.#api.get(`/events?resourceId=${payinId}`);
    return this.query(
      'select event, created_at, payload from caudal.events where resource_id = $1 order by id',
      [payinId],
    );
  }

  transfers(payinId: string): Promise<{ debit: string; credit: string; cents: string }[]> {
    return this.query(
      `select debit_account as debit, credit_account as credit, amount_in_cents::text as cents
       from caudal.ledger_transfers where resource_id = $1 order by at, id`,
      [payinId],
    );
  }

  anomalies(payinId: string): Promise<{ kind: string; cents: string | null; execution_id: string | null }[]> {
    return this.query(
      'select kind, amount_in_cents::text as cents, execution_id from caudal.anomalies where payin_id = $1 order by id',
      [payinId],
    );
  }

  async #create(body: Record<string, unknown>): Promise<PayinView> {
    const answer = await this.#api.post('/payins', body);
    if (answer.status !== 201) throw new Error(`POST /payins: ${answer.status}`);
    return answer.body as unknown as PayinView;
  }
}

export function payer(idNumber: string): { inlineCustomer: object } {
  return { inlineCustomer: { ...CUSTOMER, idNumber } };
}
