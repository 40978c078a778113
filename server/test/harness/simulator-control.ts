interface FaultRequest {
  readonly rail: 'BRE_B' | 'PSE';
  readonly operation: string;
  readonly fault:
    | 'down'
    | 'slow'
    | 'hang'
    | 'reset'
    | 'lost-answer'
    | 'rate-limited'
    | 'duplicate'
    | 'reorder'
    | 'wrong-amount'
    | 'unknown-id'
    | 'bad-signature'
    | 'lost-notice'
    | 'rejected';
  readonly ms?: number;
  /** The directory's error code under `rejected`. */
  readonly code?: string;
  /** Number of times the fault applies; unlimited when omitted. */
  readonly times?: number;
}

interface PaymentOrder {
  readonly key: string;
  /** Pesos with two decimals; defaults to the registered amount. */
  readonly amount?: string;
  /** Pays even when the key is closed or unknown, as an order already in flight does. */
  readonly anyway?: boolean;
  /** Number of payments, 1 by default. */
  readonly times?: number;
}

interface PaymentResult {
  readonly key: string;
  readonly executionId?: string;
  readonly endToEndId?: string;
  readonly code?: string;
}

interface SimulatorKey {
  readonly status: 'REGISTERED' | 'CLOSED' | 'REJECTED' | 'CANCELED';
  readonly internalId: string | null;
  readonly amount: string | null;
  readonly expiresAt: string | null;
  readonly payer: {
    readonly documentType: string;
    readonly documentNumber: string;
    readonly name: string;
  } | null;
  readonly registeredAt: string | null;
  readonly closedAt: string | null;
}

interface SimulatorTransaction {
  readonly reference: string;
  readonly transactionId: string;
  readonly trazabilityCode: string;
  readonly bankCode: string;
  readonly personType: number;
  readonly returnUrl: string;
  readonly description: string;
  readonly amount: string;
  readonly expiresAt: string | null;
  readonly payer: Readonly<Record<string, string>>;
  readonly bankUrl: string;
}

interface SimulatorOrder {
  readonly endToEndId: string;
  readonly internalId: string;
  readonly resolutionId: string | null;
  readonly key: string;
  readonly amount: string;
  readonly status: 'PROCESSING' | 'SETTLED' | 'REJECTED';
  readonly code: string | null;
  readonly executionId: string | null;
}

/** An executed outgoing payment. */
interface SimulatorExecution {
  readonly endToEndId: string;
  readonly executionId: string;
  readonly amount: string;
  readonly key: string;
}

interface ReceivedTraceparent {
  readonly rail: 'BRE_B' | 'PSE';
  readonly operation: string;
  readonly traceparent: string;
}

type Counts = Readonly<Record<'BRE_B' | 'PSE', Readonly<Record<string, number>>>>;

export interface SimulatorStats {
  readonly keys: { readonly registered: number; readonly closed: number };
  readonly transactions: number;
  readonly notices: { readonly queued: number; readonly acknowledged: number; readonly attempts: number };
  readonly payments: { readonly count: number; readonly cents: string };
  /** Payout orders: `received` is the sum of the others. */
  readonly orders: {
    readonly received: number;
    readonly duplicates: number;
    readonly settled: number;
    readonly rejected: number;
    readonly processing: number;
  };
  readonly executions: { readonly count: number; readonly cents: string };
  readonly calls: Counts;
  readonly refused: Counts;
  readonly faulted: Counts;
}

/** Client of the simulator's control API: reads the rails' state and injects faults. */
export class SimulatorControl {
  readonly #url: string;

  constructor(simulatorUrl: string) {
    this.#url = `${simulatorUrl}/control`;
  }

  /** Sets the URLs to which the rails send notifications. */
  async setNotificationUrls(urls: readonly string[]): Promise<void> {
    await this.#call('POST', '/notices/target', { urls });
  }

  /** @returns for each payment its execution, or the rejection code */
  async pay(...payments: readonly PaymentOrder[]): Promise<PaymentResult[]> {
    const { results } = await this.#call<{ results: PaymentResult[] }>('POST', '/keys/pay', { payments });
    return results;
  }

  /** Pays a key once it is closed; a closed key immediately. */
  async payLate(payment: { readonly key: string; readonly amount?: string }): Promise<void> {
    await this.#call('POST', '/keys/pay-late', payment);
  }

  /** Ends the payer's payment to a key without money. */
  async endKey(end: {
    readonly key: string;
    readonly outcome: 'REJECTED' | 'CANCELED';
    readonly code?: string;
    readonly anyway?: boolean;
  }): Promise<void> {
    await this.#call('POST', '/keys/end', end);
  }

  async endTransaction(end: {
    readonly reference: string;
    readonly state: 'OK' | 'NOT_AUTHORIZED' | 'FAILED';
    readonly reason?: string;
    readonly anyway?: boolean;
  }): Promise<void> {
    await this.#call('POST', '/transactions/end', end);
  }

  /** Leaves the bank page without a decision; with `approvesInMs` the bank approves later. */
  async leaveTransaction(leaving: {
    readonly reference: string;
    readonly approvesInMs?: number;
  }): Promise<void> {
    await this.#call('POST', '/transactions/leave', leaving);
  }

  /** Ends an unfinished transaction without waiting for the timeout of PSE. */
  async abandonTransaction(reference: string): Promise<void> {
    await this.#call('POST', '/transactions/abandon', { reference });
  }

  /** Changes a directory entry: omitted fields stay as they are, and a null holder removes the key. */
  async setDirectoryEntry(listing: {
    readonly key: string;
    readonly holder?: {
      readonly participant?: { readonly nit: string; readonly node: string; readonly name?: string };
      readonly account?: { readonly type: string; readonly number: string };
      readonly person?: {
        readonly type: 'N' | 'L';
        readonly documentType: string;
        readonly documentNumber: string;
        readonly names: string;
      };
    } | null;
    readonly status?: 'ACTIVE' | 'SUSPENDED_BY_CLIENT' | 'SUSPENDED_BY_PARTICIPANT';
  }): Promise<void> {
    await this.#call('POST', '/directory', listing);
  }

  /** Decides an order; with `anyway` also one that is already final. */
  endOrder(end: {
    readonly endToEndId: string;
    readonly outcome: 'SETTLED' | 'REJECTED';
    readonly code?: string;
    readonly anyway?: boolean;
  }): Promise<SimulatorOrder> {
    return this.#call<SimulatorOrder>('POST', '/orders/end', end);
  }

  order(endToEndId: string): Promise<SimulatorOrder | null> {
    return this.#find<SimulatorOrder>(`/orders/${encodeURIComponent(endToEndId)}`);
  }

  /** Every execution of an order; an order executed twice appears twice. */
  executions(): Promise<SimulatorExecution[]> {
    return this.#call<SimulatorExecution[]>('GET', '/executions');
  }

  async addFault(fault: FaultRequest): Promise<string> {
    const { id } = await this.#call<{ id: string }>('POST', '/faults', fault);
    return id;
  }

  async removeFault(id: string): Promise<void> {
    await this.#call('DELETE', `/faults/${id}`);
  }

  async clearFaults(): Promise<void> {
    await this.#call('DELETE', '/faults');
  }

  /** How many times a fault has been applied so far. */
  async timesApplied(id: string): Promise<number> {
    const { faults } = await this.#call<{ faults: { id: string; applied: number }[] }>('GET', '/faults');
    return faults.find((fault) => fault.id === id)?.applied ?? 0;
  }

  async shiftTime(shiftMs: number): Promise<void> {
    await this.#call('POST', '/time', { shiftMs });
  }

  key(key: string): Promise<SimulatorKey | null> {
    return this.#find<SimulatorKey>(`/keys/${encodeURIComponent(key)}`);
  }

  transaction(reference: string): Promise<SimulatorTransaction | null> {
    return this.#find<SimulatorTransaction>(`/transactions/${encodeURIComponent(reference)}`);
  }

  /** The headers `traceparent` of recent rail calls, oldest first. */
  traceparents(): Promise<readonly ReceivedTraceparent[]> {
    return this.#call<ReceivedTraceparent[]>('GET', '/traceparents');
  }

  stats(): Promise<SimulatorStats> {
    return this.#call<SimulatorStats>('GET', '/stats');
  }

  async #find<T>(path: string): Promise<T | null> {
    const response = await fetch(this.#url + path);
    if (response.status === 404) return null;
    if (response.status !== 200) throw new Error(`the simulator answered ${response.status} to ${path}`);
    return (await response.json()) as T;
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.#url + path, {
      method,
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
}
