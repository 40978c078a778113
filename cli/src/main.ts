#!/usr/bin/env node
import module from 'node:module';

// Keeps compiled code between runs, so that commands start fast. Node 20 does not have it.
module.enableCompileCache?.();

const interrupted = new AbortController();
let times = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    times += 1;
    interrupted.abort();
    // A second signal ends the process at once.
    if (times > 1) process.exit(130);
  });
}

// The reader may close the pipe early (`| head`): that is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
}

const { run } = await import('./run.ts');
const code = await run(process.argv.slice(2), interrupted.signal);
// Flushes stdout first: process.exit would cut off pending writes to a pipe.
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit(code);
