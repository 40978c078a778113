import { type FileHandle, open } from 'node:fs/promises';
import type { JournalLine } from './order-facts.ts';
import { RailFacts } from './rail-facts.ts';

const CHUNK_BYTES = 256 * 1024;

/** Reads the simulator's journal incrementally. The simulator writes each line before it responds or sends a notice. */
export class RailJournal {
  #facts = new RailFacts();
  readonly #file: FileHandle;
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #offset = 0;
  /** An incomplete line. */
  #partialLine = '';

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<RailJournal> {
    return new RailJournal(await open(path, 'r'));
  }

  /** Starts a history: discards the facts from before it. */
  async start(): Promise<void> {
    await this.readOn();
    const { lastSeq } = this.#facts;
    this.#facts = new RailFacts();
    this.#facts.lastSeq = lastSeq;
  }

  async readOn(): Promise<RailFacts> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#chunk, 0, CHUNK_BYTES, this.#offset);
      if (bytesRead === 0) return this.#facts;
      this.#offset += bytesRead;
      // latin1 decodes byte by byte: a UTF-8 character split between two chunks would not decode, and only ASCII matters here.
      const lines = (this.#partialLine + this.#chunk.toString('latin1', 0, bytesRead)).split('\n');
      this.#partialLine = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#facts.take(JSON.parse(line) as JournalLine);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
