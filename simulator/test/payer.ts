import { readFile } from 'node:fs/promises';
import { eventually, type Simulator } from './harness.ts';
import { call, pseCall, pseOrder, type Reply, registration } from './wire-client.ts';

type SimulatorAddress = Pick<Simulator, 'url'>;

export type Paid = { readonly key: string; readonly executionId: string; readonly endToEndId: string };

export async function pay(simulator: SimulatorAddress, ...payments: object[]): Promise<Paid[]> {
  const { status, body } = await call(simulator, 'POST', '/control/keys/pay', { body: { payments } });
  if (status !== 200) throw new Error(`keys/pay: ${status} ${JSON.stringify(body)}`);
  return (body as { results: Paid[] }).results;
}

export const payLate = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/keys/pay-late', { body });

export const endKey = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/keys/end', { body });

export const endTransaction = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/transactions/end', { body });

export const leaveTransaction = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/transactions/leave', { body });

export const abandonTransaction = (simulator: SimulatorAddress, reference: string): Promise<Reply> =>
  call(simulator, 'POST', '/control/transactions/abandon', { body: { reference } });

export const shiftTime = (simulator: SimulatorAddress, shiftMs: number): Promise<Reply> =>
  call(simulator, 'POST', '/control/time', { body: { shiftMs } });

export async function addFault(simulator: SimulatorAddress, fault: object): Promise<string> {
  const { status, body } = await call(simulator, 'POST', '/control/faults', { body: fault });
  if (status !== 200) throw new Error(`faults: ${status} ${JSON.stringify(body)}`);
  return (body as { id: string }).id;
}

export type Stats = {
  readonly keys: Readonly<Record<string, number>>;
  readonly payments: { readonly count: number; readonly cents: string };
  readonly notices: {
    readonly queued: number;
    readonly acknowledged: number;
    readonly attempts: number;
    readonly waiting: number;
  };
};

export async function stats(simulator: SimulatorAddress): Promise<Stats> {
  return (await call(simulator, 'GET', '/control/stats')).body as Stats;
}

/** Waits until all queued notices are acknowledged and the acknowledgements are on disk. */
export async function untilDrained(simulator: SimulatorAddress): Promise<void> {
  await eventually(
    async () => (await stats(simulator)).notices.waiting === 0,
    () => 'all notices are acknowledged',
  );
}

export const getKey = async (simulator: SimulatorAddress, key: string) =>
  (await call(simulator, 'GET', `/control/keys/${key}`)).body as {
    readonly status: string;
    readonly code: string | null;
    readonly registeredAt: string;
    readonly closedAt: string | null;
    readonly payments: readonly {
      readonly amount: string;
      readonly executionId: string;
      readonly at: string;
    }[];
  };

export const getTransaction = async (simulator: SimulatorAddress, reference: string) =>
  (await call(simulator, 'GET', `/control/transactions/${reference}`)).body as {
    readonly state: string;
    readonly reason: string | null;
    readonly bankUrl: string;
    readonly createdAt: string;
    readonly openedAt: string | null;
    readonly approvesAt: string | null;
  };

type Payment = {
  readonly rail: string;
  readonly reference: string;
  readonly executionId: string;
  readonly amount: string;
  readonly at: string;
};

export async function getPayments(simulator: SimulatorAddress, reference: string): Promise<Payment[]> {
  const { body } = await call(simulator, 'GET', '/control/payments');
  return (body as Payment[]).filter((payment) => payment.reference === reference);
}

/** Milliseconds between two times of the simulator's clock. */
export const msBetween = (from: string | null | undefined, to: string | null | undefined): number =>
  Date.parse(to ?? '') - Date.parse(from ?? '');

export type JournalLine = Readonly<Record<string, unknown>> & { readonly kind: string };

export async function journal({ journalFile }: Simulator, kind: string): Promise<JournalLine[]> {
  const text = await readFile(journalFile, 'utf8');
  // A line that the simulator writes in the background may be incomplete.
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
  return lines.map((line) => JSON.parse(line) as JournalLine).filter((line) => line.kind === kind);
}

export const withDocument = (key: string, documentNumber: string, changes: object = {}) =>
  registration(key, { payer: { documentType: 'CC', documentNumber, name: 'Ana Peña' }, ...changes });

export const orderWithDocument = (reference: string, documentNumber: string, changes: object = {}) =>
  pseOrder(reference, { payer: { ...pseOrder(reference).payer, documentNumber }, ...changes });

export const createOrder = (
  simulator: SimulatorAddress,
  reference: string,
  changes: object = {},
): Promise<Reply> => pseCall(simulator, 'transactions', pseOrder(reference, changes));
