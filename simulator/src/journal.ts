import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalEntry, JournalLine } from './journal-entry.ts';
import { MORE_FOLLOWS, readJournal } from './journal-reader.ts';

type Batch = { text: string; readonly flushed: PromiseWithResolvers<void> };

/**
 * Append-only store. `append` resolves once its entries are on disk. Entries that arrive during an fdatasync are
 * written with the next one (group commit): concurrent requests share a commit, a single request does not wait.
 */
export class Journal {
  readonly #handle: FileHandle;
  readonly #onFailure: (error: unknown) => void;
  #seq: number;
  #pending: Batch | null = null;
  #flushing: Batch | null = null;
  #writing: Promise<void> | null = null;
  #failure: Error | null = null;
  #commits = 0;

  private constructor(handle: FileHandle, seq: number, onFailure: (error: unknown) => void) {
    this.#handle = handle;
    this.#seq = seq;
    this.#onFailure = onFailure;
  }

  /**
   * Replays the journal, truncates a torn end and opens it for appending. `onFailure` must end the process:
   * after a failed write the state in memory is ahead of the disk, and no answer may be based on it.
   */
  static async open(
    dataDir: string,
    replay: (line: JournalLine) => void,
    onFailure: (error: unknown) => void,
  ): Promise<Journal> {
    await mkdir(dataDir, { recursive: true });
    const handle = await open(join(dataDir, 'journal.jsonl'), 'a+', 0o600);
    try {
      const { validBytes, lastSeq } = await readJournal(handle, replay);
      await handle.truncate(validBytes);
      await handle.sync();
      await syncDirectory(dataDir);
      return new Journal(handle, lastSeq, onFailure);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Entries appended together are replayed together or not at all: a payment never loses its notice. */
  append(entries: readonly JournalEntry[]): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#pending ??= { text: '', flushed: Promise.withResolvers<void>() };
    for (const [index, entry] of entries.entries()) {
      this.#seq += 1;
      const line: JournalLine = { seq: this.#seq, ...entry };
      const more = index < entries.length - 1 ? MORE_FOLLOWS : '';
      this.#pending.text += `${JSON.stringify(line)}${more}\n`;
    }
    const { promise } = this.#pending.flushed;
    this.#writing ??= this.#writePending();
    return promise;
  }

  /** Resolves when all entries appended so far are on disk. For readers that append nothing themselves. */
  async synced(): Promise<void> {
    // Does not wait for the end of the write loop, which never comes under steady load.
    await (this.#pending ?? this.#flushing)?.flushed.promise;
  }

  get counts(): { lines: number; commits: number } {
    return { lines: this.#seq, commits: this.#commits };
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  async #writePending(): Promise<void> {
    while (this.#pending !== null) {
      const batch = this.#pending;
      this.#pending = null;
      this.#flushing = batch;
      try {
        await this.#handle.appendFile(batch.text);
        await this.#handle.datasync();
      } catch (error) {
        this.#fail(error, batch);
        break;
      }
      this.#commits += 1;
      batch.flushed.resolve();
    }
    this.#flushing = null;
    this.#writing = null;
  }

  #fail(error: unknown, batch: Batch): void {
    this.#failure = new Error('failed to write the journal', { cause: error });
    batch.flushed.reject(this.#failure);
    this.#pending?.flushed.reject(this.#failure);
    this.#pending = null;
    this.#onFailure(error);
  }
}

/** Without this a power failure may lose the directory entry of the file, although its content is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
