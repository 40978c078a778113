import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/**
 * What becomes of a COMMIT:
 * - `cut-after`: PostgreSQL gets it and answers; the answer is lost with the connection.
 * - `cut-before`: the connection is lost and PostgreSQL never hears of it.
 * - `swallow`: it is lost and nobody is told, as when a cable is pulled; the session stays open until `forgetGhosts`.
 * - `notice`: it succeeds, but PostgreSQL says that it gave up waiting for the standby.
 * - `pass`: nothing happens to it.
 */
export type Fate = 'pass' | 'cut-after' | 'cut-before' | 'swallow' | 'notice';

interface Trouble {
  /** Login role whose commits are meant. */
  readonly user: string;
  readonly fate: () => Fate;
}

type Line = 'open' | 'silent' | 'refused';

/** Text of the real WARNING (syncrep.c). */
const NOT_REPLICATED = 'canceling wait for synchronous replication due to user request';

/**
 * Stands between the server and PostgreSQL and reads what the client says: enough of the protocol to know who it is
 * and when it commits.
 */
export class PostgresProxy {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #line: Line = 'open';
  /** So far, while the database was down. */
  refusedConnections = 0;
  #trouble: Trouble | null = null;
  /** What happens to the next messages that contain this text, before they are forwarded. */
  #planned: {
    readonly user: string;
    readonly text: string;
    readonly fate: 'cut-before' | 'swallow';
    times: number;
  } | null = null;

  private constructor(server: Server, target: { host: string; port: number }) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#accept(client));
  }

  static async start(targetUrl: string): Promise<PostgresProxy> {
    const { hostname, port } = new URL(targetUrl);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PostgresProxy(server, { host: hostname, port: Number(port) });
  }

  /** The same database by way of this proxy. */
  through(direct: string): string {
    const address = this.#server.address();
    const url = new URL(direct);
    url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
    return url.href;
  }

  /** From now on commits of a role meet the fate that is drawn for each. */
  trouble(user: string, fate: Fate | (() => Fate)): void {
    this.#trouble = { user, fate: typeof fate === 'function' ? fate : () => fate };
  }

  /** Cuts connections of a role when they send a message that contains this text, before it is forwarded. */
  cutAt(user: string, text: string, times: number): void {
    this.#planned = { user, text, fate: 'cut-before', times };
  }

  /** Drops such messages instead; their connections stay open and silent. */
  swallowAt(user: string, text: string, times: number): void {
    this.#planned = { user, text, fate: 'swallow', times };
  }

  /** How many of the planned messages have not come yet. */
  get pending(): number {
    return this.#planned?.times ?? 0;
  }

  /** Nothing arrives any more, in no direction, and nobody is told. New connections get no answer either. */
  goSilent(): void {
    this.#line = 'silent';
    for (const link of this.#links) link.silence();
  }

  /** Every connection is lost and no new one is made: the database is down. */
  refuse(): void {
    this.#line = 'refused';
    for (const link of this.#links) link.cut();
  }

  /** Ends all trouble. Connections on which something was lost end now, as they would by the first packet that arrives. */
  heal(): void {
    this.#line = 'open';
    this.#trouble = null;
    this.#planned = null;
    this.forgetGhosts();
  }

  /** PostgreSQL learns that the clients it could not hear are gone, and rolls back what they left open. */
  forgetGhosts(): void {
    for (const link of this.#links) if (link.silent) link.cut();
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    if (this.#line === 'refused') {
      this.refusedConnections += 1;
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const link = new Link(client, dial(this.#target), (user, message) => this.#fateOf(user, message));
    this.#links.add(link);
    link.onGone = () => this.#links.delete(link);
    if (this.#line === 'silent') link.silence();
  }

  #fateOf(user: string, message: string): Fate {
    const planned = this.#planned;
    if (planned && planned.times > 0 && planned.user === user && message.includes(planned.text)) {
      planned.times -= 1;
      return planned.fate;
    }
    return this.#trouble?.user === user && /^commit\b/i.test(message) ? this.#trouble.fate() : 'pass';
  }
}

/** One connection: two sockets and what is known of the conversation. */
class Link {
  readonly #client: Socket;
  readonly #database: Socket;
  readonly #judge: (user: string, message: string) => Fate;
  #unread = Buffer.alloc(0);
  /** Null until the startup message, which says who it is, has been read. */
  #user: string | null = null;
  #answerIsLost = false;
  silent = false;
  onGone: () => void = () => undefined;

  constructor(client: Socket, database: Socket, judge: (user: string, message: string) => Fate) {
    this.#client = client;
    this.#database = database;
    this.#judge = judge;
    client.on('data', (bytes) => this.#fromClient(bytes));
    database.on('data', (bytes) => this.#fromDatabase(bytes));
    for (const socket of [client, database]) socket.on('error', () => undefined);
    // A line that has gone dead carries no goodbye either: PostgreSQL keeps the session of a client that left.
    client.on('close', () => {
      if (!this.silent) this.cut();
    });
    database.on('close', () => this.cut());
  }

  silence(): void {
    this.silent = true;
  }

  cut(): void {
    this.#client.destroy();
    this.#database.destroy();
    this.onGone();
  }

  #fromDatabase(bytes: Buffer): void {
    if (this.#answerIsLost) this.cut();
    else if (!this.silent) this.#client.write(bytes);
  }

  #fromClient(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (;;) {
      if (this.silent || this.#client.destroyed) return;
      // Every message starts with its type, but for the first, which has none.
      const header = this.#user === null ? 0 : 1;
      if (this.#unread.length < header + 4) return;
      const length = header + this.#unread.readUInt32BE(header);
      if (this.#unread.length < length) return;
      const message = this.#unread.subarray(0, length);
      this.#unread = this.#unread.subarray(length);
      this.#pass(message, message.subarray(header + 4).toString('latin1'));
    }
  }

  #pass(message: Buffer, text: string): void {
    if (this.#user === null) {
      this.#user = /user\0([^\0]+)\0/.exec(text)?.[1] ?? '';
      this.#database.write(message);
      return;
    }
    switch (this.#judge(this.#user, text)) {
      case 'cut-before':
        this.cut();
        return;
      case 'swallow':
        this.silence();
        return;
      case 'cut-after':
        this.#answerIsLost = true;
        break;
      case 'notice':
        this.#client.write(notice(NOT_REPLICATED));
        break;
      case 'pass':
        break;
    }
    this.#database.write(message);
  }
}

/** NoticeResponse, as the server would send it before the CommandComplete of COMMIT. */
function notice(message: string): Buffer {
  const fields = Buffer.from(`SWARNING\0VWARNING\0C01000\0M${message}\0\0`, 'utf8');
  const head = Buffer.alloc(5);
  head.write('N', 0, 'latin1');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
