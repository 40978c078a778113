import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandLine } from './command-line.ts';

test('caudal dev runs a complete stack that other commands detect, and SIGTERM stops it cleanly', async () => {
  const clone = new CommandLine();
  // When the tests run as root, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(clone.folder, 0o755);
  const running = clone.start(['dev', '--json', '--any-ports', '--data', join(clone.folder, '.data', 'dev')]);
  await running.waitForOutput(/"ready":true.*\n/);
  const { baseUrl, apiKey } = JSON.parse(running.stdout()) as { baseUrl: string; apiKey: string };
  expect(await clone.json('whoami')).toMatchObject({ baseUrl, source: 'the caudal dev stack' });
  running.child.kill('SIGTERM');
  const { code, stdout } = await running.ended;
  expect([code, stdout.trim().split('\n')]).toEqual([0, [expect.stringContaining(baseUrl)]]);
  // The port is free again, so another process may listen there, but not this stack.
  const accepted = await fetch(`${baseUrl}/balance`, { headers: { 'x-api-key': apiKey } }).then(
    ({ ok }) => ok,
    () => false,
  );
  expect(accepted).toBe(false);
});
