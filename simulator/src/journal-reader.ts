import type { FileHandle } from 'node:fs/promises';
import type { JournalLine } from './journal-entry.ts';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Ends a line that is worth something only together with the next one. To a reader of JSON it is nothing. */
export const MORE_FOLLOWS = ' ';

class JournalDamaged extends Error {}

/**
 * Hands every line to `each` in order and says how many leading bytes are sound and the last `seq`.
 * Only the end may be torn: it was being written when the process died, so nobody was answered from it. Lines
 * that belong together are torn together.
 * A bad line with good ones after it, or a gap in `seq` (two processes on one directory), is damage: throws.
 */
export async function readJournal(
  handle: FileHandle,
  each: (line: JournalLine) => void,
): Promise<{ soundBytes: number; lastSeq: number }> {
  let soundBytes = 0;
  let lastSeq = 0;
  let torn = false;
  let together: { line: JournalLine; bytes: number }[] = [];
  for await (const text of linesOf(handle)) {
    const seq = lastSeq + together.length;
    if (torn) throw new JournalDamaged(`the line after seq ${seq} is unreadable and is not the last one`);
    const line = parseLine(text);
    if (line === null) {
      torn = true;
      continue;
    }
    if (line.seq !== seq + 1) {
      throw new JournalDamaged(`seq ${line.seq} follows seq ${seq}; was the directory used twice at once?`);
    }
    together.push({ line, bytes: text.byteLength + 1 });
    if (text.at(-1) === MORE_FOLLOWS.charCodeAt(0)) continue;
    for (const whole of together) {
      each(whole.line);
      soundBytes += whole.bytes;
    }
    lastSeq = line.seq;
    together = [];
  }
  return { soundBytes, lastSeq };
}

/** In chunks and not whole: a long load test's journal outgrows the longest string that V8 can hold. */
async function* linesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  let carried: Buffer = Buffer.alloc(0);
  let position = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    const bytes = Buffer.concat([carried, buffer.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    carried = bytes.subarray(start);
  }
}

function parseLine(text: Buffer): JournalLine | null {
  try {
    const line: unknown = JSON.parse(text.toString('utf8'));
    const whole = typeof line === 'object' && line !== null && 'seq' in line && typeof line.seq === 'number';
    return whole ? (line as JournalLine) : null;
  } catch {
    return null;
  }
}
