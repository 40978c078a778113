import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../server/test/harness/until.ts';

const MODULE = new URL('stack/postgres.ts', import.meta.url).href;

it('stops PostgreSQL and removes its temporary folder when the process that started it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-orphan-'));
  const program = `
    import { chmodSync } from 'node:fs';
    import { startPostgres } from ${JSON.stringify(MODULE)};
    chmodSync(${JSON.stringify(folder)}, 0o755);
    await startPostgres({ dataDir: ${JSON.stringify(join(folder, 'pg'))}, temporaryFolder: ${JSON.stringify(folder)} });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const pid = Number(readFileSync(join(folder, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  // It did not end by itself before.
  expect(await ended).toEqual([null, 'SIGKILL']);
  await until('PostgreSQL has stopped', () => Promise.resolve(!existsSync(`/proc/${pid}`)));
  await until('the folder is removed', () => Promise.resolve(!existsSync(folder)));
});
