import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { OutcomeDesk } from '../harness/outcome-desk.ts';
import { type Stack, startStack } from '../harness/stack.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

let stack: Stack;
let desk: OutcomeDesk;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_DUE_EVERY_MS: '20' } });
  desk = new OutcomeDesk(stack);
});
afterAll(async () => {
  await stack?.stop();
});

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly payinId: string | null;
  readonly amountInCents: number | null;
  readonly organizationId: string;
}

const list = async (...flags: string[]) =>
  JSON.parse(await stack.command('anomalies', 'list', '--json', ...flags)) as Listed[];
const resolve = (id: string, ...rest: string[]) =>
  stack.command('anomalies', 'resolve', id, '--by', 'Laura', ...rest);
const available = async () =>
  (await stack.api.get<{ availableInCents: number }>('/balance')).body.availableInCents;

it('money that came late is listed, credited once to its merchant, and the ledger stays whole', async () => {
  const { payin, key } = await desk.breb();
  await desk.simulator.pay({ key });
  await desk.reaches(payin.id, 'CONFIRMED');
  await desk.simulator.pay({ key, amount: '250.00', anyway: true });
  await desk.quiet();
  const [anomaly] = await list();
  expect(anomaly).toMatchObject({ kind: 'paid_again', payinId: payin.id, amountInCents: 25_000 });
  const id = anomaly?.id ?? '';
  expect(await stack.command('anomalies', 'list')).toContain(`COP 250.00  payin ${payin.id}`);

  await expect(resolve(id, '--dismiss')).rejects.toThrow(/holds money in suspense/);
  await expect(resolve(id)).rejects.toThrow(/either --credit or --dismiss/);
  const before = await available();
  expect(await resolve(id, '--credit', '--note', 'the payer asked to keep it')).toContain('COP 250.00 moved');
  expect(await available()).toBe(before + 25_000);
  await expect(resolve(id, '--credit')).rejects.toThrow(/resolved before: credit by Laura/);
  expect(await available()).toBe(before + 25_000);
  expect(await list()).toEqual([]);
  expect(await list('--all')).toMatchObject([{ id, resolution: 'credit', resolvedBy: 'Laura' }]);
  const { body } = await stack.api.get<{ anomalies: object[] }>(`/payins/${payin.id}`);
  expect(body.anomalies).toMatchObject([{ kind: 'PAID_AGAIN', amount: 250, resolution: 'CREDIT' }]);
  expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
});

it('money for a key that was never ours needs a receiver', async () => {
  await desk.simulator.pay({ key: '@SOMEBODYELSESKEY', amount: '77.00', anyway: true });
  await desk.quiet();
  const [anomaly] = await list();
  expect(anomaly).toMatchObject({ kind: 'unmatched', payinId: null, amountInCents: 7700 });
  const id = anomaly?.id ?? '';
  await expect(resolve(id, '--credit')).rejects.toThrow(/say whose it is with --org/);
  const before = await available();
  await resolve(id, '--credit', '--org', stack.organization.organizationId);
  expect(await available()).toBe(before + 7700);
  expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
});

it('what came without money is put away', async () => {
  const { payin, key } = await desk.breb();
  await desk.simulator.pay({ key });
  await desk.reaches(payin.id, 'CONFIRMED');
  await desk.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
  await desk.quiet();
  const [anomaly] = await list();
  const id = anomaly?.id ?? '';
  await expect(resolve(id, '--credit')).rejects.toThrow(/nothing to credit/);
  expect(await resolve(id, '--dismiss')).toContain('put away');
  expect(await stack.command('anomalies', 'list')).toContain('Nothing waits for you.');
});

it.each([
  [['anomalies', 'resolve'], /needs the id of an anomaly/],
  [
    ['anomalies', 'resolve', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--credit', '--by', 'x'],
    /no such anomaly/,
  ],
  [['anomalies', 'resolve', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--credit'], /--by is missing/],
])('%j is refused in plain words', async (args, words) => {
  await expect(stack.command(...args)).rejects.toThrow(words);
});
