#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// What is compiled is kept between runs: a command line is judged by how soon it answers.
enableCompileCache();

const interrupted = new AbortController();
let times = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    times += 1;
    interrupted.abort();
    // Impatience is respected.
    if (times > 1) process.exit(130);
  });
}

// Whoever reads us may have had enough (`| head`): that is no fault of anybody.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
}

const { run } = await import('./run.ts');
const code = await run(process.argv.slice(2), interrupted.signal);
// Written to the end first: a pipe takes what it is given in its own time.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit(code);
