/**
 * node scripts/ci/report-stalls.ts COMMAND…: runs a step of CI and prints when the machine stalled meanwhile, which may explain a
 * failure. The result is that of the command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeStalls, watchStalls } from './machine-stalls.ts';

const [command, ...args] = process.argv.slice(2);
if (command === undefined)
  throw new Error('give the command to run: node scripts/ci/report-stalls.ts COMMAND…');
const watch = watchStalls();
const [exitCode] = (await once(spawn(command, args, { stdio: 'inherit' }), 'close')) as [number | null];
await watch.stop();
if (watch.stalls.length > 0) console.log(`The machine stalled:\n  ${describeStalls(watch.stalls)}`);
process.exitCode = exitCode ?? 1;
