import { afterAll, expect, test } from 'vitest';
import { buildApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { Journal } from '../src/journal.ts';
import { NoticeSender } from '../src/notices/notice-sender.ts';
import { emptyState } from '../src/state.ts';
import { cleanUp, temporaryDirectory } from './harness.ts';

afterAll(cleanUp);

test('the control API returns 403 to non-loopback addresses, while the rails answer them', async () => {
  const config = readConfig(['--data', await temporaryDirectory()], {});
  const ignore = (): void => undefined;
  const journal = await Journal.open(config.dataDir, ignore, ignore);
  const closing = new AbortController().signal;
  const parts = { config, state: emptyState(config), journal, closing, log: ignore };
  const app = buildApp({ ...parts, sender: new NoticeSender(parts) }, () => 'http://x');
  // Uses inject: a real request from a test always comes from loopback.
  const status = async (remoteAddress: string, url: string) =>
    (await app.inject({ method: 'GET', url, remoteAddress })).statusCode;
  for (const address of ['127.0.0.1', '127.0.0.9', '::1', '::ffff:127.0.0.1']) {
    expect(await status(address, '/control/stats')).toBe(200);
  }
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1']) {
    expect(await status(address, '/control/stats')).toBe(403);
    expect(await status(address, '/control/faults')).toBe(403);
    expect(await status(address, '/pse/v1/banks')).toBe(401);
  }
  await app.close();
  await journal.close();
});
