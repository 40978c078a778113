import type { FileHandle } from 'node:fs/promises';
import type { JournalLine } from './journal-entry.ts';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Suffix of a line that is valid only together with the next line. JSON parsers ignore it. */
export const MORE_FOLLOWS = ' ';

class JournalDamaged extends Error {}

/**
 * Passes every line to `each` in order. Returns the number of valid leading bytes and the last `seq`.
 * Only the end may be torn: the process died while writing it, so no client got an answer based on it.
 * Lines appended together are dropped together.
 * Throws on damage: an unreadable line before a readable one, or a gap in `seq` (two processes on one directory).
 */
export async function readJournal(
  handle: FileHandle,
  each: (line: JournalLine) => void,
): Promise<{ validBytes: number; lastSeq: number }> {
  let validBytes = 0;
  let lastSeq = 0;
  let torn = false;
  let group: { line: JournalLine; bytes: number }[] = [];
  for await (const text of readLines(handle)) {
    const seq = lastSeq + group.length;
    if (torn) throw new JournalDamaged(`the line after seq ${seq} is unreadable and is not the last one`);
    const line = parseLine(text);
    if (line === null) {
      torn = true;
      continue;
    }
    if (line.seq !== seq + 1) {
      throw new JournalDamaged(
        `seq ${line.seq} follows seq ${seq}; did two processes use the directory at the same time?`,
      );
    }
    group.push({ line, bytes: text.byteLength + 1 });
    if (text.at(-1) === MORE_FOLLOWS.charCodeAt(0)) continue;
    for (const member of group) {
      each(member.line);
      validBytes += member.bytes;
    }
    lastSeq = line.seq;
    group = [];
  }
  return { validBytes, lastSeq };
}

/** Reads in chunks: the journal of a long load test exceeds V8's maximum string length. */
async function* readLines(handle: FileHandle): AsyncGenerator<Buffer> {
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
    const isLine = typeof line === 'object' && line !== null && 'seq' in line && typeof line.seq === 'number';
    return isLine ? (line as JournalLine) : null;
  } catch {
    return null;
  }
}
