import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** True when a user can answer a prompt. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** @param hidden do not echo the input */
export async function prompt(question: string, signal: AbortSignal, hidden = false): Promise<string> {
  let muted = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted) process.stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  // In raw mode the terminal sends Ctrl-C as a key, not as a signal.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = reader.question(question, { signal });
    muted = hidden;
    return (await answer).trim();
  } finally {
    reader.close();
    if (hidden) process.stderr.write('\n');
  }
}

export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^(?:y|yes|s|si|sí)$/i.test(await prompt(`${question} [y/N] `, signal));
}

/** All of stdin, for a value of `-`. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
