/** The rails' own door for tests: what payers do, and how a rail shall misbehave. */
export interface RailControl {
  /** @returns for each whether the network took it */
  pay(...payments: readonly PaymentOrder[]): Promise<boolean[]>;
  /** @returns false when there was nothing left to end */
  endKey(end: { key: string; outcome: 'REJECTED' | 'CANCELED'; anyway?: boolean }): Promise<boolean>;
  endTransaction(end: {
    reference: string;
    state: 'OK' | 'NOT_AUTHORIZED' | 'FAILED';
    reason?: string;
    anyway?: boolean;
  }): Promise<boolean>;
  /** Puts a key into the directory, changes it, or takes it out. */
  list(listing: Listing): Promise<void>;
  /** @returns false when there was nothing left to end */
  endOrder(end: { endToEndId: string; outcome: 'SETTLED' | 'REJECTED'; anyway?: boolean }): Promise<boolean>;
  /** Null when no such order arrived. */
  orderStatus(endToEndId: string): Promise<'PROCESSING' | 'SETTLED' | 'REJECTED' | null>;
  addFault(fault: FaultOrder): Promise<string>;
  removeFault(id: string): Promise<void>;
  clearFaults(): Promise<void>;
  /** Orders that arrived, and the money that went out by them. */
  orders(): Promise<{ received: number; duplicates: number; executions: number }>;
  /** Notices not yet acknowledged. */
  noticesWaiting(): Promise<number>;
}

export interface PaymentOrder {
  readonly key: string;
  /** Pesos with two decimals; the registered amount when left out. */
  readonly amount?: string;
  /** Also on a key that is closed or unknown: an order that was under way already. */
  readonly anyway?: boolean;
}

export interface Listing {
  readonly key: string;
  /** The test holder's when left out; null takes the key out. */
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
    endKey: async (end) => (await call('POST', '/keys/end', end)).ok,
    endTransaction: async (end) => (await call('POST', '/transactions/end', end)).ok,
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
