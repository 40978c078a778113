import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { Journal } from '../src/journal.ts';
import {
  cleanUp,
  eventually,
  runSimulator,
  type Simulator,
  startSimulator,
  temporaryDirectory,
} from './harness.ts';
import { listKey, order, send } from './order-driver.ts';
import { brebClient, call, fetchToken, freshKey, pseCall, pseOrder, registration } from './wire-client.ts';

afterAll(cleanUp);

async function lines(simulator: Simulator): Promise<{ seq: number; at: string; kind: string }[]> {
  const text = await readFile(simulator.journalFile, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

const readViews = async (simulator: Simulator, paths: string[]) =>
  Promise.all(paths.map(async (path) => (await call(simulator, 'GET', path)).body));

test('a restart after SIGKILL keeps keys, tombstones, transactions, tokens, clock shift, faults and counts', async () => {
  const first = await startSimulator({ args: ['--public-url', 'http://banks.example'] });
  const breb = await brebClient(first);
  const token = await fetchToken(first);
  const [open, closed, tombstone] = [
    registration(freshKey()),
    registration(freshKey()),
    registration(freshKey()),
  ];
  await breb('keys/register', { keys: [open, closed] });
  await breb('keys/close', { keys: [closed.key, tombstone.key] });
  const created = await pseCall(first, 'transactions', pseOrder('ref-kept'));
  await call(first, 'POST', '/control/time', { body: { shiftMs: 60_000 } });
  await call(first, 'POST', '/control/faults', {
    body: { rail: 'PSE', operation: 'banks', fault: 'down', times: 2 },
  });
  await pseCall(first, 'banks');
  const paths = [
    ...[open, closed, tombstone].map(({ key }) => `/control/keys/${key}`),
    '/control/transactions/ref-kept',
    '/control/faults',
  ];
  const before = await readViews(first, paths);
  const stats = (await call(first, 'GET', '/control/stats')).body as { journal: object };
  await first.end('SIGKILL');

  const second = await startSimulator({
    dataDir: first.dataDir,
    args: ['--public-url', 'http://banks.example'],
  });
  expect(await readViews(second, paths)).toEqual(before);
  const statsAfter = (await call(second, 'GET', '/control/stats')).body as object;
  expect({ ...statsAfter, journal: null }).toEqual({ ...stats, journal: null });
  expect((await call(second, 'GET', '/control/time')).body).toMatchObject({ shiftMs: 60_000 });
  const query = { authorization: token, body: { keys: [open.key, closed.key] } };
  expect((await call(second, 'POST', '/breb/v1/keys/query', query)).body).toMatchObject({
    results: [{ status: 'REGISTERED' }, { status: 'CLOSED' }],
  });
  const again = { authorization: token, body: { keys: [tombstone, open] } };
  expect((await call(second, 'POST', '/breb/v1/keys/register', again)).body).toMatchObject({
    results: [{ status: 'REJECTED', code: '0004' }, { status: 'REGISTERED' }],
  });
  expect(await pseCall(second, 'transactions', pseOrder('ref-kept'))).toEqual(created);
  expect((await pseCall(second, 'banks')).status).toBe(503);
  expect((await pseCall(second, 'banks')).status).toBe(200);
});

test.each([
  ['incomplete', '{"seq":99,"at":"2026-01-01T00:00:00.000Z","kind":"breb.reg'],
  ['unreadable but terminated', '{"seq":99,"at":\n'],
])('a torn last line (%s) is truncated and the journal continues from there', async (_name, torn) => {
  const first = await startSimulator();
  const item = registration(freshKey());
  await (await brebClient(first))('keys/register', { keys: [item] });
  await first.end('SIGKILL');
  const { size } = await stat(first.journalFile);
  await appendFile(first.journalFile, torn);

  const second = await startSimulator({ dataDir: first.dataDir });
  expect((await stat(first.journalFile)).size).toBe(size);
  const breb = await brebClient(second);
  expect((await breb('keys/query', { keys: [item.key] })).body).toMatchObject({
    results: [{ status: 'REGISTERED' }],
  });
  const kept = await lines(second);
  expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => index + 1));
});

test('a journal that is damaged before its end, has a gap or an unknown kind stops the start with an error', async () => {
  const line = (seq: number) =>
    `${JSON.stringify({ seq, at: '2026-01-01T00:00:00.000Z', kind: 'pse.banks' })}\n`;
  const cases: [string, RegExp][] = [
    [`${line(1)}{"seq":\n${line(3)}`, /unreadable and is not the last/],
    [`${line(1)}${line(3)}`, /seq 3 follows seq 1/],
    [`{"seq":1,"at":"x","kind":"breb.tomorrow"}\n`, /newer simulator/],
  ];
  for (const [text, message] of cases) {
    const dataDir = await temporaryDirectory();
    await writeFile(`${dataDir}/journal.jsonl`, text);
    const ended = await runSimulator(['--port', '0', '--data', dataDir]);
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
    expect(await readFile(`${dataDir}/journal.jsonl`, 'utf8')).toBe(text);
  }
});

test('every change and answer is journaled before the response is sent', async () => {
  const simulator = await startSimulator();
  const kinds: string[] = [];
  const expectLast = async (kind: string) => {
    kinds.push(kind);
    expect((await lines(simulator)).map((line) => line.kind)).toEqual(kinds);
  };
  const breb = await brebClient(simulator);
  await expectLast('breb.token');
  const item = registration(freshKey());
  await breb('keys/register', { keys: [item] });
  await expectLast('breb.register');
  await breb('keys/query', { keys: [item.key] });
  await expectLast('breb.query');
  await breb('keys/close', { keys: [item.key] });
  await expectLast('breb.close');
  await breb('directory/resolve', { key: '@TESTOK' });
  await expectLast('breb.resolve');
  await breb('directory/resolve', {});
  await expectLast('call.refused');
  await listKey(simulator, { key: '@NEIGHBOUR' });
  await expectLast('breb.directory');
  await breb('orders/query', { endToEndIds: ['NOBODY'] });
  await expectLast('breb.order-query');
  await send(breb, order('@TESTTIMEOUT'));
  await expectLast('breb.orders');
  await pseCall(simulator, 'transactions', pseOrder('ref-journal'));
  await expectLast('pse.create');
  await pseCall(simulator, 'transactions/query', { references: ['ref-journal'] });
  await expectLast('pse.query');
  await pseCall(simulator, 'banks');
  await expectLast('pse.banks');
  await call(simulator, 'POST', '/control/faults', {
    body: { rail: 'PSE', operation: '*', fault: 'down', times: 1 },
  });
  await expectLast('fault.added');
  await pseCall(simulator, 'banks');
  await expectLast('fault.applied');
});

test('a failed journal write ends the process before the response is sent', async () => {
  const first = await startSimulator({ maxFileKb: 16 });
  const breb = await brebClient(first);
  const items = Array.from({ length: 200 }, () => registration(freshKey()));
  await expect(breb('keys/register', { keys: items })).rejects.toThrow('fetch failed');
  expect(await first.end('SIGTERM')).toBe(1);

  const second = await startSimulator({ dataDir: first.dataDir });
  const { body } = await (await brebClient(second))('keys/query', { keys: items.map(({ key }) => key) });
  expect(body).toMatchObject({ results: items.map(() => ({ status: 'NOT_FOUND' })) });
});

test('concurrent calls are all journaled', async () => {
  const simulator = await startSimulator();
  const breb = await brebClient(simulator);
  await Promise.all(
    Array.from({ length: 300 }, () => breb('keys/register', { keys: [registration(freshKey())] })),
  );
  const { body } = await call(simulator, 'GET', '/control/stats');
  const { lines: written, commits } = (body as { journal: { lines: number; commits: number } }).journal;
  expect(written).toBe(301);
  // How many calls arrive during a commit depends on the machine.
  expect(commits).toBeLessThanOrEqual(written);
});

test('concurrent entries share journal commits', async () => {
  const fail = (error: unknown): void => {
    throw error;
  };
  const journal = await Journal.open(await temporaryDirectory(), () => undefined, fail);
  const entry = { at: '2026-01-01T00:00:00.000Z', kind: 'pse.banks' } as const;
  await Promise.all(Array.from({ length: 300 }, () => journal.append([entry])));
  // The first is written at once, and all others with the next commit.
  expect(journal.counts).toEqual({ lines: 300, commits: 2 });
  await journal.close();
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the process with exit code 0 while one call hangs and another is slow',
  async (signal) => {
    const simulator = await startSimulator();
    const faults = [
      { rail: 'PSE', operation: 'banks', fault: 'hang' },
      { rail: 'PSE', operation: 'query', fault: 'slow', ms: 600_000 },
    ];
    for (const body of faults) await call(simulator, 'POST', '/control/faults', { body });
    const held = [
      pseCall(simulator, 'banks'),
      pseCall(simulator, 'transactions/query', { references: ['r'] }),
    ];
    const outcomes = Promise.allSettled(held);
    await eventually(
      async () =>
        (JSON.stringify((await call(simulator, 'GET', '/control/faults')).body).match(/"applied":1/g) ?? [])
          .length === 2,
      () => 'both calls are held',
    );
    expect(await simulator.end(signal)).toBe(0);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await startSimulator({ dataDir: simulator.dataDir });
  },
);

test('an unknown flag or an invalid value ends the process with exit code 2 and names it', async () => {
  const unknown = await runSimulator(['--prot', '1']);
  expect(unknown).toMatchObject({ code: 2, out: '', err: expect.stringContaining("'--prot'") });
  const badPort = await runSimulator(['--port', '70000']);
  expect(badPort).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"70000"') });
  const badUrl = await runSimulator(['--public-url', 'ftp://x']);
  expect(badUrl).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"ftp://x"') });
  const badWait = await runSimulator([], { SIM_ORDER_MS: '1s' });
  expect(badWait).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"1s"') });
});
