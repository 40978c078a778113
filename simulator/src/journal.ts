import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalEntry, JournalLine } from './journal-entry.ts';
import { MORE_FOLLOWS, readJournal } from './journal-reader.ts';

type Batch = { text: string; readonly flushed: PromiseWithResolvers<void> };

/**
 * The append-only store. `append` resolves once its line is on the disk; whatever gathers while one fdatasync
 * runs goes out with the next, so concurrent requests share a commit and a lone one waits for nobody.
 */
export class Journal {
  readonly #handle: FileHandle;
  readonly #onFailure: (error: unknown) => void;
  #seq: number;
  #gathering: Batch | null = null;
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
   * Replays what is there, cuts a torn end off and is then ready to append. `onFailure` must end the process:
   * after a failed write the state in memory is ahead of the disk and no further answer may be given from it.
   */
  static async open(
    dataDir: string,
    replay: (line: JournalLine) => void,
    onFailure: (error: unknown) => void,
  ): Promise<Journal> {
    await mkdir(dataDir, { recursive: true });
    const handle = await open(join(dataDir, 'journal.jsonl'), 'a+', 0o600);
    try {
      const { soundBytes, lastSeq } = await readJournal(handle, replay);
      await handle.truncate(soundBytes);
      await handle.sync();
      await syncDirectory(dataDir);
      return new Journal(handle, lastSeq, onFailure);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** What is appended together is read back together or not at all: a payment never without its notice. */
  append(entries: readonly JournalEntry[]): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.#gathering ??= { text: '', flushed: Promise.withResolvers<void>() };
    for (const [index, entry] of entries.entries()) {
      this.#seq += 1;
      const line: JournalLine = { seq: this.#seq, ...entry };
      const more = index < entries.length - 1 ? MORE_FOLLOWS : '';
      this.#gathering.text += `${JSON.stringify(line)}${more}\n`;
    }
    const { promise } = this.#gathering.flushed;
    this.#writing ??= this.#writeGathered();
    return promise;
  }

  /** Resolves when all that was appended so far is on the disk: what a reader needs who writes no line itself. */
  async settled(): Promise<void> {
    // Not the end of the writing loop, which under steady load never comes.
    await (this.#gathering ?? this.#flushing)?.flushed.promise;
  }

  get counts(): { lines: number; commits: number } {
    return { lines: this.#seq, commits: this.#commits };
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  async #writeGathered(): Promise<void> {
    while (this.#gathering !== null) {
      const batch = this.#gathering;
      this.#gathering = null;
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
    this.#failure = new Error('the journal could not be written', { cause: error });
    batch.flushed.reject(this.#failure);
    this.#gathering?.flushed.reject(this.#failure);
    this.#gathering = null;
    this.#onFailure(error);
  }
}

/** Without this the file's name itself may be lost with the power, though its bytes were synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
