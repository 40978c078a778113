import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Only where a person can answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** @param hidden what is typed is not shown */
export async function ask(question: string, signal: AbortSignal, hidden = false): Promise<string> {
  let muted = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!muted) process.stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  // In a terminal's raw mode Ctrl-C is a key, not a signal.
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
  return /^(?:y|yes|s|si|sí)$/i.test(await ask(`${question} [y/N] `, signal));
}

/** All of stdin, as `-` asks for. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
