import { randomUUID } from 'node:crypto';
import { eventually, type Simulator, startSimulator } from './harness.ts';
import { shiftTime } from './payer.ts';
import { type BrebClient, call, type Reply } from './wire-client.ts';

type SimulatorAddress = Pick<Simulator, 'url'>;

/** Longer than any test takes before it moves the clock, and short enough for five orders within the validity of a resolution. */
const ORDER_MS = 120_000;

/** Orders settle after ORDER_MS of the simulator's clock, so that a test controls the end with `untilEnded`. */
export function startOrderSimulator(args: readonly string[] = [], dataDir?: string): Promise<Simulator> {
  const env = { SIM_ORDER_MS: String(ORDER_MS) };
  return startSimulator({ args, env, ...(dataDir === undefined ? {} : { dataDir }) });
}

let lastNumber = 0;

export function newId(): string {
  lastNumber += 1;
  return `CDL${process.pid}T${String(lastNumber).padStart(8, '0')}`;
}

export function order(key: string, changes: object = {}) {
  return {
    internalId: randomUUID() as string,
    endToEndId: newId(),
    resolutionId: null as string | null,
    initiation: 'KEY',
    amount: '49800.00',
    currency: 'COP',
    creditor: { key },
    payer: { documentType: 'NIT', documentNumber: '9000000019', name: 'Comercio SAS' },
    ...changes,
  };
}

type Result = { readonly endToEndId: string; readonly status: string; readonly code?: string };

export async function send(breb: BrebClient, ...orders: object[]): Promise<Result[]> {
  const { status, body } = await breb('orders', { orders });
  if (status !== 200) throw new Error(`orders: ${status} ${JSON.stringify(body)}`);
  return (body as { results: Result[] }).results;
}

export async function queryOrders(breb: BrebClient, ...endToEndIds: string[]): Promise<unknown[]> {
  return ((await breb('orders/query', { endToEndIds })).body as { results: unknown[] }).results;
}

export async function getResolutionId(breb: BrebClient, key: string): Promise<string> {
  const { status, body } = await breb('directory/resolve', { key });
  if (status !== 200) throw new Error(`resolve: ${status} ${JSON.stringify(body)}`);
  return (body as { resolutionId: string }).resolutionId;
}

export const listKey = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/directory', { body });

export const endOrder = (simulator: SimulatorAddress, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/orders/end', { body });

type OrderView = {
  readonly status: string;
  readonly code: string | null;
  readonly executionId: string | null;
  readonly receivedAt: string;
  readonly endedAt: string | null;
};

export const getOrder = async (simulator: SimulatorAddress, endToEndId: string) =>
  (await call(simulator, 'GET', `/control/orders/${endToEndId}`)).body as OrderView;

export async function getExecutions(simulator: SimulatorAddress, ...endToEndIds: string[]) {
  const { body } = await call(simulator, 'GET', '/control/executions');
  return (body as Record<string, string>[]).filter(({ endToEndId = '' }) => endToEndIds.includes(endToEndId));
}

export async function passTime(simulator: SimulatorAddress, ms: number): Promise<void> {
  const { body } = await call(simulator, 'GET', '/control/time');
  await shiftTime(simulator, (body as { shiftMs: number }).shiftMs + ms);
}

/** Moves the clock to the settlement time and waits until the order has ended. */
export async function untilEnded(simulator: SimulatorAddress, endToEndId: string): Promise<OrderView> {
  await passTime(simulator, ORDER_MS);
  return untilOver(simulator, endToEndId);
}

export async function untilOver(simulator: SimulatorAddress, endToEndId: string): Promise<OrderView> {
  let last = await getOrder(simulator, endToEndId);
  await eventually(
    async () => {
      last = await getOrder(simulator, endToEndId);
      return last.status !== 'PROCESSING';
    },
    () => `${endToEndId} has ended, not ${JSON.stringify(last)}`,
  );
  return last;
}
