/**
 * node scripts/ci/run-step.ts COMMAND…: runs a step of CI with deadlines of its own. If it fails and the machine stalled
 * meanwhile, it is inconclusive: it runs once more and must pass.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeStalls, watchStalls } from './machine-stalls.ts';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('give the command to run: node scripts/ci/run-step.ts COMMAND…');
const totalsFile = process.env['TEST_COUNTS'];
const folder = mkdtempSync(join(tmpdir(), 'caudal-step-'));
const countsFile = join(folder, 'counts');

async function run(program: string): Promise<number> {
  writeFileSync(countsFile, '');
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, TEST_COUNTS: countsFile },
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return exitCode ?? 1;
}

const watch = watchStalls();
let exitCode = await run(command);
await watch.stop();
if (watch.stalls.length > 0) console.log(`The machine stalled:\n  ${describeStalls(watch.stalls)}`);
if (exitCode !== 0 && watch.stalls.length > 0) {
  console.log('The step failed while the machine stalled. Again:');
  exitCode = await run(command);
}
if (totalsFile) appendFileSync(totalsFile, readFileSync(countsFile));
rmSync(folder, { recursive: true });
process.exitCode = exitCode;
