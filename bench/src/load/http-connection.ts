import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * One keep-alive connection over a raw socket, one request at a time. A client library would cost as much CPU as the
 * server it measures. Bytes are read as Latin-1, which is cheap to decode and covers everything the benches inspect.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #buffered = '';
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.#read(String(chunk)));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new HttpConnection(socket)));
    });
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.end();
  }

  #read(chunk: string): void {
    this.#buffered += chunk;
    const headEnd = this.#buffered.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#buffered)?.[1] ?? 0);
    if (this.#buffered.length < headEnd + 4 + length) return;
    const answer = { status: Number(this.#buffered.slice(9, 12)), body: this.#buffered.slice(headEnd + 4) };
    this.#buffered = '';
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
