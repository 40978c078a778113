import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandLine } from './command-line.ts';

test('caudal dev runs a whole stack, which commands beside it find by themselves, and stops it in order', async () => {
  const clone = new CommandLine();
  // Where the tests run as root, PostgreSQL runs as somebody who must be able to enter.
  chmodSync(clone.folder, 0o755);
  const running = clone.start(['dev', '--json', '--any-ports', '--data', join(clone.folder, '.data', 'dev')]);
  await running.says('"ready":true', 60_000);
  const { baseUrl } = JSON.parse(running.stdout()) as { baseUrl: string };
  expect(await clone.json('whoami')).toMatchObject({ baseUrl, source: 'the stack that caudal dev runs' });
  running.child.kill('SIGTERM');
  const { code, stdout } = await running.ended;
  expect([code, stdout.trim().split('\n')]).toEqual([0, [expect.stringContaining(baseUrl)]]);
  await expect(fetch(baseUrl)).rejects.toThrow('fetch failed');
}, 90_000);
