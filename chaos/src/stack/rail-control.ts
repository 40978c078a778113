/** The simulator's control API: payer actions and rail faults. */
export interface RailControl {
  /** @returns for each payment, whether the network accepted it */
  pay(...payments: readonly PaymentOrder[]): Promise<boolean[]>;
  /** Pays a key a few seconds after it is closed; a closed key immediately. */
  payLate(payment: { key: string; amount?: string }): Promise<void>;
  /** @returns false when the key has already ended */
  endKey(end: { key: string; outcome: 'REJECTED' | 'CANCELED'; anyway?: boolean }): Promise<boolean>;
  endTransaction(end: {
    reference: string;
    state: 'OK' | 'NOT_AUTHORIZED' | 'FAILED';
    reason?: string;
    anyway?: boolean;
  }): Promise<boolean>;
  /** The payer leaves the bank page; the bank approves later. @returns false when it is unknown or decided */
  leaveTransaction(leaving: { reference: string; approvesInMs: number }): Promise<boolean>;
  /** Adds, changes or removes a key in the directory. */
  list(listing: Listing): Promise<void>;
  /** @returns false when the order has already ended */
  endOrder(end: { endToEndId: string; outcome: 'SETTLED' | 'REJECTED'; anyway?: boolean }): Promise<boolean>;
  /** @returns null when the rail has no such order */
  orderStatus(endToEndId: string): Promise<'PROCESSING' | 'SETTLED' | 'REJECTED' | null>;
  addFault(fault: FaultOrder): Promise<string>;
  removeFault(id: string): Promise<void>;
  clearFaults(): Promise<void>;
  /** Counts of received orders and executions. */
  orders(): Promise<{ received: number; duplicates: number; executions: number }>;
  /** Number of notices not yet acknowledged. */
  noticesWaiting(): Promise<number>;
}

export interface PaymentOrder {
  readonly key: string;
  /** Pesos with two decimals; defaults to the registered amount. */
  readonly amount?: string;
  /** Pays even if the key is closed or unknown, like a payment that was already in flight. */
  readonly anyway?: boolean;
}

export interface Listing {
  readonly key: string;
  /** Defaults to the test holder; null removes the key. */
  readonly person?: { readonly documentNumber: string; readonly names: string } | null;
  readonly status?: 'ACTIVE' | 'SUSPENDED_BY_CLIENT' | 'SUSPENDED_BY_PARTICIPANT';
}

export interface FaultOrder {
  readonly rail: 'BRE_B' | 'PSE';
  readonly operation: string;
  readonly fault: string;
  readonly ms?: number;
  readonly times?: number;
}

export function railControl(simulatorUrl: string): RailControl {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${simulatorUrl}/control${path}`, {
      method,
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(10_000),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok && response.status !== 404 && response.status !== 409)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return { ok: response.ok, answer };
  };
  return {
    pay: async (...payments) => {
      const { answer } = await call('POST', '/keys/pay', { payments });
      return (answer['results'] as { executionId?: string }[]).map(
        ({ executionId }) => executionId !== undefined,
      );
    },
    payLate: async (payment) => void (await call('POST', '/keys/pay-late', payment)),
    endKey: async (end) => (await call('POST', '/keys/end', end)).ok,
    endTransaction: async (end) => (await call('POST', '/transactions/end', end)).ok,
    leaveTransaction: async (leaving) => (await call('POST', '/transactions/leave', leaving)).ok,
    list: async ({ key, person, status }) => {
      const holder = person && { person: { type: 'N', documentType: 'CC', ...person } };
      await call('POST', '/directory', {
        key,
        ...(holder === undefined ? {} : { holder }),
        ...(status === undefined ? {} : { status }),
      });
    },
    endOrder: async (end) => (await call('POST', '/orders/end', end)).ok,
    orderStatus: async (endToEndId) => {
      const { ok, answer } = await call('GET', `/orders/${endToEndId}`);
      return ok ? (answer['status'] as 'PROCESSING' | 'SETTLED' | 'REJECTED') : null;
    },
    addFault: async (fault) => String((await call('POST', '/faults', fault)).answer['id']),
    removeFault: async (id) => void (await call('DELETE', `/faults/${id}`)),
    clearFaults: async () => void (await call('DELETE', '/faults')),
    orders: async () => {
      const { answer } = await call('GET', '/stats');
      const { received, duplicates } = answer['orders'] as { received: number; duplicates: number };
      return { received, duplicates, executions: (answer['executions'] as { count: number }).count };
    },
    noticesWaiting: async () => {
      const { answer } = await call('GET', '/stats');
      return (answer['notices'] as { waiting: number }).waiting;
    },
  };
}
