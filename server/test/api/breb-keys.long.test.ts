import { afterAll, beforeAll, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { expectNoLimitWhenPaying, expectScanStopped } from './breb-lookups.ts';

let stack: Stack;
let caudal: InProcess;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

it('never blocks a merchant that pays after each lookup: five hundred in a row with a hundred tokens', () =>
  expectNoLimitWhenPaying(stack, caudal, { times: 500, lookups: 100, waitsForRefunds: false }));

it('stops a scan of ten thousand phone numbers after a hundred: 429 with Retry-After, counted, then allowed one at a time', () =>
  expectScanStopped(stack, caudal, 10_000));
