import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { FailureLog } from '../db/failure-log.ts';
import { ConnectionLost, isDatabaseError } from '../db/failures.ts';
import { isWorkKind, type WorkKind } from './work-signals.ts';

const CHANNEL = 'caudal_work';
/** Signals within this time share one statement, however many commits raised them. */
const SEND_EVERY_MS = 50;
const RECONNECT_AFTER_MS = 1000;
const ANSWER_WITHIN_MS = 2000;

interface NotificationOptions {
  readonly url: string;
  readonly failures: FailureLog;
}

/**
 * Sends work signals to the workers. NOTIFY takes a lock of the whole cluster at commit, so it has a connection and a
 * transaction of its own, after the one that made the work due, and no request waits for it. A signal that cannot be sent is
 * dropped: workers poll.
 */
export class WorkNotifier {
  readonly #options: NotificationOptions;
  readonly #closing = new AbortController();
  readonly #pending = new Set<WorkKind>();
  #client: Client | null = null;
  #sending: Promise<void> | null = null;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  send(kind: WorkKind): void {
    if (this.#closing.signal.aborted) return;
    this.#pending.add(kind);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
    await end(this.#client);
  }

  async #sendAll(): Promise<void> {
    while (this.#pending.size > 0 && !this.#closing.signal.aborted) {
      const kinds = [...this.#pending];
      this.#pending.clear();
      await this.#pause((await this.#send(kinds)) ? SEND_EVERY_MS : RECONNECT_AFTER_MS);
    }
  }

  async #send(kinds: readonly WorkKind[]): Promise<boolean> {
    const { failures } = this.#options;
    try {
      this.#client ??= await connect(this.#options.url, 'caudal-notify');
      await this.#client.query('select pg_notify($1, kind) from unnest($2::text[]) as kind', [
        CHANNEL,
        kinds,
      ]);
      failures.succeeded('send work signals');
      return true;
    } catch (error) {
      failures.failed('send work signals', connectionFailure(error));
      await end(this.#client);
      this.#client = null;
      return false;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}

/** Receives work signals of other processes. While its connection is lost, polling finds their work. */
export class WorkListener {
  readonly #options: NotificationOptions & { readonly onSignal: (kind: WorkKind) => void };
  readonly #closing = new AbortController();
  #client: Client | null = null;
  #running: Promise<void> | null = null;

  constructor(options: NotificationOptions & { readonly onSignal: (kind: WorkKind) => void }) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await end(this.#client);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#listen(signal);
      } catch (error) {
        if (!signal.aborted) this.#options.failures.failed('receive work signals', connectionFailure(error));
      }
      await sleep(RECONNECT_AFTER_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves or rejects when the connection has ended. */
  async #listen(signal: AbortSignal): Promise<void> {
    const client = await connect(this.#options.url, 'caudal-listen');
    this.#client = client;
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    try {
      client.on('notification', ({ payload }) => {
        if (payload !== undefined && isWorkKind(payload)) this.#options.onSignal(payload);
      });
      await client.query(`listen ${CHANNEL}`);
      if (signal.aborted) return;
      this.#options.failures.succeeded('receive work signals');
      await ended;
      throw new Error('the connection ended');
    } finally {
      await end(client);
    }
  }
}

async function connect(connectionString: string, name: string): Promise<Client> {
  const client = new Client({
    connectionString,
    application_name: name,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    // Nothing is written that must last: a missing standby must not hold up the lock of the whole cluster.
    options: '-c synchronous_commit=off -c jit=off',
  });
  // What was lost shows in the next query or in the end of the connection; without a listener the event ends the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await end(client);
    throw error;
  }
}

/** Without waiting for an answer: a peer that went silent never says goodbye. */
async function end(client: Client | null): Promise<void> {
  if (!client) return;
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const ended = client.end().catch(() => undefined);
  await Promise.race([ended, sleep(100)]);
  stream.destroy();
}

function connectionFailure(error: unknown): unknown {
  return isDatabaseError(error) ? error : new ConnectionLost(error);
}
