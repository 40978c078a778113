import { randomUUID } from 'node:crypto';
import { eventually, type Simulator, startSimulator } from './harness.ts';
import { shiftTime } from './payer.ts';
import { type BrebClient, call, type Reply } from './wire-client.ts';

type At = Pick<Simulator, 'url'>;

const ORDER_MS = 30_000;

/** Orders wait half a minute of its clock, so that a test decides by `untilEnded` when they end. */
export function startOrderSimulator(args: readonly string[] = [], dataDir?: string): Promise<Simulator> {
  const env = { SIM_ORDER_MS: String(ORDER_MS) };
  return startSimulator({ args, env, ...(dataDir === undefined ? {} : { dataDir }) });
}

let made = 0;

export function newId(): string {
  made += 1;
  return `CDL${process.pid}T${String(made).padStart(8, '0')}`;
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

export async function ask(breb: BrebClient, ...endToEndIds: string[]): Promise<unknown[]> {
  return ((await breb('orders/query', { endToEndIds })).body as { results: unknown[] }).results;
}

export async function resolutionOf(breb: BrebClient, key: string): Promise<string> {
  const { status, body } = await breb('directory/resolve', { key });
  if (status !== 200) throw new Error(`resolve: ${status} ${JSON.stringify(body)}`);
  return (body as { resolutionId: string }).resolutionId;
}

export const listKey = (simulator: At, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/directory', { body });

export const endOrder = (simulator: At, body: object): Promise<Reply> =>
  call(simulator, 'POST', '/control/orders/end', { body });

type OrderView = {
  readonly status: string;
  readonly code: string | null;
  readonly executionId: string | null;
  readonly receivedAt: string;
  readonly endedAt: string | null;
};

export const orderOf = async (simulator: At, endToEndId: string) =>
  (await call(simulator, 'GET', `/control/orders/${endToEndId}`)).body as OrderView;

export async function executionsOf(simulator: At, ...endToEndIds: string[]) {
  const { body } = await call(simulator, 'GET', '/control/executions');
  return (body as Record<string, string>[]).filter(({ endToEndId = '' }) => endToEndIds.includes(endToEndId));
}

export async function passTime(simulator: At, ms: number): Promise<void> {
  const { body } = await call(simulator, 'GET', '/control/time');
  await shiftTime(simulator, (body as { shiftMs: number }).shiftMs + ms);
}

/** Lets the settlement's time come and waits for what comes of it. */
export async function untilEnded(simulator: At, endToEndId: string): Promise<OrderView> {
  await passTime(simulator, ORDER_MS);
  return untilOver(simulator, endToEndId);
}

export async function untilOver(simulator: At, endToEndId: string): Promise<OrderView> {
  let last = await orderOf(simulator, endToEndId);
  await eventually(
    async () => {
      last = await orderOf(simulator, endToEndId);
      return last.status !== 'PROCESSING';
    },
    () => `${endToEndId} has ended, not ${JSON.stringify(last)}`,
    10_000,
  );
  return last;
}
