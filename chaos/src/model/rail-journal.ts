import { type FileHandle, open } from 'node:fs/promises';
import { type JournalLine, RailFacts } from './rail-facts.ts';

const PIECE_BYTES = 256 * 1024;

/** Reads on in the simulator's journal, which is on disk before anything it tells leaves the simulator. */
export class RailJournal {
  #facts = new RailFacts();
  readonly #file: FileHandle;
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #offset = 0;
  /** A line of which the end has not been written yet. */
  #rest = '';

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<RailJournal> {
    return new RailJournal(await open(path, 'r'));
  }

  /** A history begins: what the rails did before it is no business of its. */
  async begin(): Promise<void> {
    await this.readOn();
    const { lastSeq } = this.#facts;
    this.#facts = new RailFacts();
    this.#facts.lastSeq = lastSeq;
  }

  async readOn(): Promise<RailFacts> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#piece, 0, PIECE_BYTES, this.#offset);
      if (bytesRead === 0) return this.#facts;
      this.#offset += bytesRead;
      // Byte by byte: a letter cut in two by the end of a piece would not decode, and only ASCII is looked at here.
      const lines = (this.#rest + this.#piece.toString('latin1', 0, bytesRead)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#facts.take(JSON.parse(line) as JournalLine);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
