import { connect, type Socket } from 'node:net';
import type { Answer } from './answer.ts';
import { readAnswer } from './read-answer.ts';

/** Server-sent events are read for this long. */
const STREAM_MS = 150;

interface Waiting {
  readonly isHead: boolean;
  readonly sentAt: number;
  readonly deadline: NodeJS.Timeout;
  readonly resolve: (answer: Answer | null) => void;
  streamTimer: NodeJS.Timeout | null;
}

/**
 * A keep-alive connection that sends bytes as they are, one request at a time. No client library would send what the fuzzer
 * sends, and none is as cheap.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | null = null;
  #open = true;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * @param last sends no more afterwards, so that the server sees the end of an incomplete request
   * @returns null when the server closed the connection without a response, or none came in time
   */
  send(
    bytes: Buffer,
    options: { readonly isHead: boolean; readonly timeoutMs: number; readonly last?: boolean },
  ): Promise<Answer | null> {
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.close(), options.timeoutMs);
      this.#waiting = { ...options, sentAt: performance.now(), deadline, resolve, streamTimer: null };
      if (options.last === true) this.#socket.end(bytes);
      else this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#open = false;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      const read = readAnswer(this.#received, waiting.isHead);
      if (read === null) return;
      if (read.complete) return this.#settle({ ...read, ms: performance.now() - waiting.sentAt });
      if (/\r\ncontent-type: *text\/event-stream/i.test(read.head))
        waiting.streamTimer ??= setTimeout(() => this.close(), STREAM_MS);
    } catch {
      this.close();
    }
  }

  /** What arrived before the connection closed may be a response without a length, or a stream. */
  #closed(): void {
    this.#open = false;
    const waiting = this.#waiting;
    if (waiting === null) return;
    let read = null;
    try {
      read = readAnswer(this.#received, waiting.isHead);
    } catch {
      // Not HTTP: no response.
    }
    this.#settle(read && { ...read, ms: waiting.streamTimer ? 0 : performance.now() - waiting.sentAt });
  }

  #settle(answer: Answer | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#received = Buffer.alloc(0);
    if (waiting === null) return;
    clearTimeout(waiting.deadline);
    if (waiting.streamTimer) clearTimeout(waiting.streamTimer);
    if (answer !== null && /\r\nconnection: *close/i.test(answer.head)) this.close();
    waiting.resolve(answer);
  }
}
