import { callbackify } from 'node:util';
import { Client } from 'undici';
import { monotonicMs } from '../../kit/clock.ts';
import { type ConnectionRules, openVettedConnection } from './vetted-connection.ts';

/** One connection at a time; undici speaks HTTP over it. */
export interface Connection {
  readonly origin: string;
  readonly client: Client;
  openedAt: number;
}

export interface KeepingRules extends ConnectionRules {
  /** How long a connection may wait for its next use. */
  readonly idleMs: number;
  /** How long one use may take. */
  readonly totalMs: number;
  /** How long after it was opened the last use of a connection has ended. */
  readonly lifeMs: number;
}

/** As many as a line sends at once: with fewer a burst would open and close connections all the time. */
const MOST_IDLE_PER_ORIGIN = 10;
const MOST_IDLE = 1024;
const LARGEST_HEAD = 16 * 1024;

/**
 * Open connections between their uses. To use one again is safe: an address is judged when the connection to it is
 * opened, and an open connection cannot be led elsewhere, whatever its name says by now. Its life is bounded all the
 * same, so that a merchant who moves a name is followed within a minute.
 *
 * undici's Agent bounds how many connections an origin has, not how many wait: with a few, deliveries to a slow endpoint
 * queue inside their own deadline and are told as timeouts although nothing was sent. Measured with 30 at once to an
 * endpoint that takes a second: 18 answered within ten seconds, here all 30 within 1.2.
 */
export class KeptConnections {
  readonly #rules: KeepingRules;
  readonly #idle = new Map<string, Connection[]>();
  readonly #all = new Set<Connection>();
  #idleCount = 0;

  constructor(rules: KeepingRules) {
    this.#rules = rules;
  }

  /** One that waits, the last used first; otherwise a new one, which connects when something is sent over it. */
  take(origin: string): Connection {
    for (;;) {
      const waiting = this.#idle.get(origin)?.at(-1);
      if (!waiting) return this.#create(origin);
      this.#unshelve(waiting);
      if (waiting.client.stats.connected) return waiting;
      this.drop(waiting);
    }
  }

  /** After an answer that was read to its end; whatever else ends a use drops the connection. */
  giveBack(connection: Connection): void {
    const { idleMs, totalMs, lifeMs } = this.#rules;
    const age = monotonicMs() - connection.openedAt;
    const others = this.#idle.get(connection.origin) ?? [];
    const keep =
      connection.client.stats.connected &&
      age + idleMs + totalMs <= lifeMs &&
      others.length < MOST_IDLE_PER_ORIGIN &&
      this.#idleCount < MOST_IDLE;
    if (!keep || !this.#all.has(connection)) return this.drop(connection);
    this.#idle.set(connection.origin, [...others, connection]);
    this.#idleCount += 1;
  }

  /** Ends the connection and what is under way on it. */
  drop(connection: Connection): void {
    this.#unshelve(connection);
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
    // undici closes what waits too long, and the peer may; nothing of it stays behind here.
    connection.client.on('disconnect', () => {
      if (this.#unshelve(connection)) this.drop(connection);
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
      // A peer may ask for less, never for more.
      keepAliveMaxTimeout: this.#rules.idleMs,
      maxHeaderSize: LARGEST_HEAD,
      // The sender's own deadline covers both; undici's begin anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  #unshelve(connection: Connection): boolean {
    const waiting = this.#idle.get(connection.origin);
    if (!waiting?.includes(connection)) return false;
    const rest = waiting.filter((other) => other !== connection);
    if (rest.length === 0) this.#idle.delete(connection.origin);
    else this.#idle.set(connection.origin, rest);
    this.#idleCount -= 1;
    return true;
  }
}
