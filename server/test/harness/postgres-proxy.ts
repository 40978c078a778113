import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/**
 * What the proxy does with a COMMIT:
 * - `cut-after`: PostgreSQL commits and answers; the answer is lost with the connection.
 * - `cut-before`: the connection is lost before PostgreSQL receives the COMMIT.
 * - `swallow`: the message is dropped silently, as when a cable is pulled; the session stays open until
 * `closeSilentConnections`.
 * - `notice`: the commit succeeds, but PostgreSQL warns that it stopped waiting for the standby.
 * - `pass`: the message is forwarded.
 */
export type CommitFate = 'pass' | 'cut-after' | 'cut-before' | 'swallow' | 'notice';

interface CommitFault {
  /** Login role whose commits are affected. */
  readonly user: string;
  readonly fate: () => CommitFate;
}

type NetworkState = 'open' | 'silent' | 'refused';

/** Text of the real WARNING (syncrep.c). */
const NOT_REPLICATED = 'canceling wait for synchronous replication due to user request';

/**
 * A proxy between the server and PostgreSQL that parses enough of the client protocol to know the login role
 * and to detect commits.
 */
export class PostgresProxy {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #connections = new Set<ProxiedConnection>();
  #network: NetworkState = 'open';
  /** Connections rejected while the database was down. */
  rejectedConnections = 0;
  #commitFault: CommitFault | null = null;
  /** What happens to the next messages that contain this text, before they are forwarded. */
  #plannedFault: {
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

  /** The same database URL, through this proxy. */
  through(direct: string): string {
    const address = this.#server.address();
    const url = new URL(direct);
    url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
    return url.href;
  }

  /** From now on, applies a fate to every commit of a role. */
  injectCommitFault(user: string, fate: CommitFate | (() => CommitFate)): void {
    this.#commitFault = { user, fate: typeof fate === 'function' ? fate : () => fate };
  }

  /** Cuts connections of a role when they send a message that contains this text, before forwarding it. */
  cutAt(user: string, text: string, times: number): void {
    this.#plannedFault = { user, text, fate: 'cut-before', times };
  }

  /** Drops such messages instead; their connections stay open and silent. */
  swallowAt(user: string, text: string, times: number): void {
    this.#plannedFault = { user, text, fate: 'swallow', times };
  }

  /** Planned faults that have not happened yet. */
  get pending(): number {
    return this.#plannedFault?.times ?? 0;
  }

  /**
   * Drops all traffic in both directions without closing connections. New connections get no answer either.
   */
  goSilent(): void {
    this.#network = 'silent';
    for (const link of this.#connections) link.silence();
  }

  /** Cuts every connection and rejects new ones: the database is down. */
  rejectConnections(): void {
    this.#network = 'refused';
    for (const link of this.#connections) link.cut();
  }

  /**
   * Removes all faults. Connections with lost traffic end now, as they would with the first packet that
   * arrives.
   */
  heal(): void {
    this.#network = 'open';
    this.#commitFault = null;
    this.#plannedFault = null;
    this.closeSilentConnections();
  }

  /**
   * Closes the silent connections, so that PostgreSQL notices the lost clients and rolls back their
   * transactions.
   */
  closeSilentConnections(): void {
    for (const link of this.#connections) if (link.silent) link.cut();
  }

  async close(): Promise<void> {
    for (const link of this.#connections) link.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    if (this.#network === 'refused') {
      this.rejectedConnections += 1;
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const link = new ProxiedConnection(client, dial(this.#target), (user, message) =>
      this.#decideFate(user, message),
    );
    this.#connections.add(link);
    link.onGone = () => this.#connections.delete(link);
    if (this.#network === 'silent') link.silence();
  }

  #decideFate(user: string, message: string): CommitFate {
    const planned = this.#plannedFault;
    if (planned && planned.times > 0 && planned.user === user && message.includes(planned.text)) {
      planned.times -= 1;
      return planned.fate;
    }
    return this.#commitFault?.user === user && /^commit\b/i.test(message) ? this.#commitFault.fate() : 'pass';
  }
}

/** One proxied connection: two sockets and the parser state. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #database: Socket;
  readonly #decideFate: (user: string, message: string) => CommitFate;
  #unread = Buffer.alloc(0);
  /** The login role; null until the startup message has been read. */
  #user: string | null = null;
  #answerIsLost = false;
  silent = false;
  onGone: () => void = () => undefined;

  constructor(client: Socket, database: Socket, decideFate: (user: string, message: string) => CommitFate) {
    this.#client = client;
    this.#database = database;
    this.#decideFate = decideFate;
    client.on('data', (bytes) => this.#fromClient(bytes));
    database.on('data', (bytes) => this.#fromDatabase(bytes));
    for (const socket of [client, database]) socket.on('error', () => undefined);
    // A dead network carries no FIN either: PostgreSQL keeps the session of a client that left.
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
      // Every message starts with a type byte, except the startup message.
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
    switch (this.#decideFate(this.#user, text)) {
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

/** NoticeResponse as the server sends it before the CommandComplete of COMMIT. */
function notice(message: string): Buffer {
  const fields = Buffer.from(`SWARNING\0VWARNING\0C01000\0M${message}\0\0`, 'utf8');
  const head = Buffer.alloc(5);
  head.write('N', 0, 'latin1');
  head.writeUInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
