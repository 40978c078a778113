import { callbackify } from 'node:util';
import { Client } from 'undici';
import { monotonicMs } from '../../kit/clock.ts';
import { type ConnectionRules, openVettedConnection } from './vetted-connection.ts';

/** A single connection; the undici client speaks HTTP over it. */
export interface Connection {
  readonly origin: string;
  readonly client: Client;
  openedAt: number;
}

export interface ConnectionPoolOptions extends ConnectionRules {
  /** Maximum idle time of a connection. */
  readonly idleMs: number;
  /** Maximum duration of one request. */
  readonly totalMs: number;
  /** Maximum age of a connection at the end of its last request. */
  readonly lifeMs: number;
}

/** Equals the concurrency per endpoint queue: with fewer, a burst would keep opening and closing connections. */
const MAX_IDLE_PER_ORIGIN = 10;
const MAX_IDLE = 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Keeps idle connections for reuse. Reuse is safe: the address is vetted when the connection is opened, and an open
 * connection cannot be redirected by a DNS change. Its lifetime is bounded so that a changed DNS record takes effect
 * within a minute.
 *
 * undici's Agent limits the connections per origin, not the idle ones: with a low limit, deliveries to a slow endpoint
 * queue within their own deadline and are reported as timeouts although nothing was sent. Measured with 30 concurrent
 * requests to an endpoint that takes one second: 18 responses within ten seconds with the Agent, all 30 within 1.2 s here.
 */
export class ConnectionPool {
  readonly #rules: ConnectionPoolOptions;
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  #idleCount = 0;

  constructor(rules: ConnectionPoolOptions) {
    this.#rules = rules;
  }

  /** Returns the most recently used idle connection, or a new one that connects on its first request. */
  acquire(origin: string): Connection {
    for (;;) {
      const idle = this.#idle.get(origin)?.at(-1);
      if (!idle) return this.#create(origin);
      this.#removeIdle(idle);
      if (idle.client.stats.connected) return idle;
      this.drop(idle);
    }
  }

  /** Called after a response was read completely; in all other cases the caller drops the connection. */
  release(connection: Connection): void {
    const { idleMs, totalMs, lifeMs } = this.#rules;
    const age = monotonicMs() - connection.openedAt;
    const others = this.#idle.get(connection.origin) ?? [];
    const keep =
      connection.client.stats.connected &&
      age + idleMs + totalMs <= lifeMs &&
      others.length < MAX_IDLE_PER_ORIGIN &&
      this.#idleCount < MAX_IDLE;
    if (!keep || !this.#all.has(connection)) return this.drop(connection);
    this.#idle.set(connection.origin, [...others, connection]);
    this.#idleCount += 1;
  }

  /** Closes the connection and aborts its request. */
  drop(connection: Connection): void {
    this.#removeIdle(connection);
    this.#all.delete(connection);
    void connection.client.destroy();
  }

  close(): void {
    for (const connection of this.#all) this.drop(connection);
  }

  get idle(): number {
    return this.#idleCount;
  }

  #create(origin: string): Connection {
    const connection: Connection = { origin, client: this.#client(origin, () => connection), openedAt: 0 };
    this.#all.add(connection);
    // undici closes connections that idle too long, and the peer may close them too: remove them from the pool.
    connection.client.on('disconnect', () => {
      if (this.#removeIdle(connection)) this.drop(connection);
    });
    return connection;
  }

  #client(origin: string, self: () => Connection): Client {
    return new Client(origin, {
      connect: ({ hostname, port, protocol }, done) => {
        const secure = protocol === 'https:';
        const target = { hostname, port: port === '' ? (secure ? 443 : 80) : Number(port), secure };
        const open = callbackify(async () => {
          const socket = await openVettedConnection(target, this.#rules);
          self().openedAt = monotonicMs();
          return socket;
        });
        open((error, socket) => (error ? done(error, null) : done(null, socket)));
      },
      keepAliveTimeout: this.#rules.idleMs,
      // The peer may shorten the idle time, never extend it.
      keepAliveMaxTimeout: this.#rules.idleMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The sender's deadline covers both; undici's timeouts restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  #removeIdle(connection: Connection): boolean {
    const idle = this.#idle.get(connection.origin);
    if (!idle?.includes(connection)) return false;
    const rest = idle.filter((other) => other !== connection);
    if (rest.length === 0) this.#idle.delete(connection.origin);
    else this.#idle.set(connection.origin, rest);
    this.#idleCount -= 1;
    return true;
  }
}
