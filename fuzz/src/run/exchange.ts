import { type FuzzRequest, toBytes } from '../generate/request.ts';
import type { Answer } from '../wire/answer.ts';
import { Connection } from '../wire/connection.ts';

/** A response that takes longer is a violation. */
const TIMEOUT_MS = 60_000;
/** What raw bytes start may never end. */
const RAW_TIMEOUT_MS = 1000;

/** Sends requests over one keep-alive connection, which it replaces when the server closes it. */
export class Sender {
  readonly port: number;
  #connection: Connection | null = null;

  constructor(port: number) {
    this.port = port;
  }

  /** @returns null when the server closed the connection without a response */
  async send(request: FuzzRequest): Promise<Answer | null> {
    if (request.raw) return this.#sendRaw(request.raw);
    const bytes = toBytes(request);
    const isHead = request.method === 'HEAD';
    if (!this.#connection?.isOpen) this.#connection = await Connection.open(this.port);
    return this.#connection.send(bytes, { isHead, timeoutMs: TIMEOUT_MS });
  }

  async #sendRaw(bytes: Buffer): Promise<Answer | null> {
    const connection = await Connection.open(this.port);
    const answer = await connection.send(bytes, { isHead: false, timeoutMs: RAW_TIMEOUT_MS, last: true });
    connection.close();
    return answer;
  }

  close(): void {
    this.#connection?.close();
  }
}
