import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { FailureLog } from '../db/failure-log.ts';
import { ConnectionLost, isDatabaseError } from '../db/failures.ts';
import { isWorkKind, type WorkKind } from './work-signals.ts';

const CHANNEL = 'caudal_work';
/** All signals raised within this time share one statement. */
const SEND_EVERY_MS = 50;
const RECONNECT_AFTER_MS = 1000;
const RESPONSE_TIMEOUT_MS = 2000;

interface NotificationOptions {
  readonly url: string;
  readonly failures: FailureLog;
}

/**
 * Sends work signals to the workers. NOTIFY takes a cluster-wide lock at commit, so it uses its own connection and
 * transaction after the one that made the work due, and no request waits for it. A signal that cannot be sent is dropped:
 * workers also poll.
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
      failures.succeeded('send_work_signals');
      return true;
    } catch (error) {
      failures.failed('send_work_signals', connectionFailure(error));
      await end(this.#client);
      this.#client = null;
      return false;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}

/** Receives work signals of other processes. While its connection is lost, workers find the work by polling. */
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
        if (!signal.aborted) this.#options.failures.failed('receive_work_signals', connectionFailure(error));
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
      this.#options.failures.succeeded('receive_work_signals');
      await ended;
      throw new Error('listen connection ended');
    } finally {
      await end(client);
    }
  }
}

async function connect(connectionString: string, name: string): Promise<Client> {
  const client = new Client({
    connectionString,
    application_name: name,
    connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
    query_timeout: RESPONSE_TIMEOUT_MS,
    keepAlive: true,
    // Signals need no durability: a missing standby must not extend the cluster-wide lock of NOTIFY.
    options: '-c synchronous_commit=off -c jit=off',
  });
  // The next query or the 'end' event reports the failure; an 'error' event without a listener would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await end(client);
    throw error;
  }
}

/** Does not wait for the server's response: a silent peer never closes the connection. */
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
