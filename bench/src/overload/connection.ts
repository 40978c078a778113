import { connect, type Socket } from 'node:net';

/**
 * One keep-alive connection with callbacks, one request at a time. The generator runs on the machine of the server at
 * three times its capacity, so every microsecond it uses is taken from the server.
 */
export class CallbackConnection {
  readonly #port: number;
  readonly #lost: (error: Error) => void;
  #socket: Socket;
  /** The server closes the connection after this response, as it does when it cannot parse a body. */
  #closing = false;
  #answered: ((status: number) => void) | null = null;
  #buffered = '';
  #missing = 0;
  #status = 0;

  private constructor(port: number, socket: Socket, lost: (error: Error) => void) {
    this.#port = port;
    this.#lost = lost;
    this.#socket = this.#listen(socket);
  }

  static open(port: number, lost: (error: Error) => void): Promise<CallbackConnection> {
    return new Promise((resolve, reject) => {
      const socket = openSocket(port);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new CallbackConnection(port, socket, lost)));
    });
  }

  #listen(socket: Socket): Socket {
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.#read(String(chunk)));
    return socket.on('error', this.#lost);
  }

  send(request: string, answered: (status: number) => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.end();
  }

  #read(chunk: string): void {
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
    } else {
      this.#buffered = this.#buffered === '' ? chunk : this.#buffered + chunk;
      const headEnd = this.#buffered.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      this.#status = Number(this.#buffered.slice(9, 12));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#buffered)?.[1] ?? 0);
      this.#closing = /\r\nconnection: close/i.test(this.#buffered.slice(0, headEnd));
      this.#missing = headEnd + 4 + length - this.#buffered.length;
      this.#buffered = '';
    }
    if (this.#missing > 0) return;
    this.#missing = 0;
    if (this.#closing) {
      this.#socket.destroy();
      // Writes wait until it is connected.
      this.#socket = this.#listen(openSocket(this.#port));
    }
    this.#answered?.(this.#status);
  }
}

function openSocket(port: number): Socket {
  return connect({ port, host: '127.0.0.1', noDelay: true });
}
