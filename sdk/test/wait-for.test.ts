import { expect, it } from 'vitest';
import { until } from '../../server/test/harness/until.ts';
import { AbortedError, TimeoutError } from '../src/index.ts';
import { faultyServer, json, problem, thrownBy } from './faulty-server.ts';

const PROCESSING = json({ id: 'p1', status: 'PROCESSING' });

it('waitFor polls until the payin is final', async () => {
  const server = await faultyServer(PROCESSING, PROCESSING, json({ id: 'p1', status: 'DECLINED' }));
  expect((await server.client().payins.waitFor('p1')).status).toBe('DECLINED');
  expect(server.requests.map(({ path }) => path)).toEqual(['/payins/p1', '/payins/p1', '/payins/p1']);
});

it('waitFor treats a completed link as final, but not a pending one', async () => {
  const server = await faultyServer(json({ status: 'PENDING' }), json({ status: 'COMPLETED' }));
  expect((await server.client().paymentLinks.waitFor('l1')).status).toBe('COMPLETED');
});

it('waitFor throws TimeoutError that does not claim a failure', async () => {
  const server = await faultyServer(PROCESSING);
  // Near its deadline a read has one second, which a stalled machine may miss several times.
  const error = await thrownBy(server.client({ maxRetries: 100 }).payouts.waitFor('p1', { timeoutMs: 700 }));
  expect(error).toBeInstanceOf(TimeoutError);
  expect((error as Error).message).toContain('still PROCESSING after 700 ms. It has not failed');
});

it('waitFor ends when the caller aborts or the resource does not exist', async () => {
  const server = await faultyServer(PROCESSING);
  const ending = new AbortController();
  const waiting = thrownBy(server.client().payins.waitFor('p1', { signal: ending.signal }));
  await until('it was read', () => Promise.resolve(server.requests.length > 0));
  ending.abort();
  expect(await waiting).toBeInstanceOf(AbortedError);
  const missing = await faultyServer(problem(404, 'not_found'));
  expect(await thrownBy(missing.client().payins.waitFor('p1'))).toMatchObject({ code: 'not_found' });
  expect(missing.requests).toHaveLength(1);
});
