import { setTimeout as sleep } from 'node:timers/promises';
import { isClear, PATIENCE_MS, REPEAT_FOR_MS } from './client.ts';
import type { ClientJournal } from './client-journal.ts';
import { insist } from './killer.ts';
import type { Sinks } from './sinks.ts';
import type { Stage } from './stage.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** An endpoint of a merchant and the sink behind it. */
export interface MerchantEndpoint {
  readonly organization: Organization;
  readonly id: string;
  readonly sink: string;
}

interface Reply {
  readonly status: number;
  readonly code: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Merchants' programs that manage their endpoints: they ask until they are answered, and write down what they were told. */
export class WebhookClient {
  readonly #stage: Stage;
  readonly #journal: ClientJournal;
  readonly #sinks: Sinks;
  #asked = 0;

  constructor(stage: Stage, journal: ClientJournal, sinks: Sinks) {
    this.#stage = stage;
    this.#journal = journal;
    this.#sinks = sinks;
  }

  /** @param events which it gets; null means all. @param api where it is asked for first; any without it */
  async create(
    organization: Organization,
    sink: string,
    events: readonly string[] | null,
    api?: string,
  ): Promise<MerchantEndpoint> {
    const url = await this.#sinks.open(sink);
    const asked = { url, description: sink, ...(events === null ? {} : { events }) };
    const { body } = await this.#insist(organization, 'POST', '/webhook-endpoints', asked, {
      headers: { 'idempotency-key': `endpoint-${sink}` },
      ...(api === undefined ? {} : { api }),
    });
    const endpointId = String(body['id']);
    // What ends from here on must reach it: it is told to be there, by every clock.
    const knownSince = await insist(() => this.#now());
    this.#journal.write({
      kind: 'endpoint created',
      organizationId: organization.organizationId,
      endpointId,
      sink,
      events,
      secret: String(body['secret']),
      knownSince: knownSince.toISOString(),
    });
    return { organization, id: endpointId, sink };
  }

  async setStatus({ organization, id }: MerchantEndpoint, status: 'ENABLED' | 'DISABLED'): Promise<void> {
    this.#journal.write({ kind: 'endpoint status asked', endpointId: id, status });
    await this.#insist(organization, 'PATCH', `/webhook-endpoints/${id}`, { status });
    this.#journal.write({ kind: 'endpoint status set', endpointId: id, status });
  }

  /** One whose answer is lost makes a secret that nobody knows, so it is asked for again. */
  async rotate({ organization, id }: MerchantEndpoint): Promise<void> {
    this.#journal.write({ kind: 'rotation asked', endpointId: id });
    const { body } = await this.#insist(organization, 'POST', `/webhook-endpoints/${id}/rotate-secret`);
    this.#journal.write({ kind: 'rotated', endpointId: id, secret: String(body['secret']) });
  }

  /** Once, whether or not it is answered. */
  async sendTest({ organization, id }: MerchantEndpoint, api?: string): Promise<void> {
    const where = api === undefined ? {} : { api };
    await this.#call(organization, 'POST', `/webhook-endpoints/${id}/test`, undefined, where);
  }

  /** One of the organization's events, of any age. @returns false when it has none */
  async replayOne(organization: Organization, api?: string): Promise<boolean> {
    const [event] = await this.#stage.query<{ id: string }>(
      `select id from caudal.events where organization_id = $1 and resource <> 'webhook' order by random() limit 1`,
      [organization.organizationId],
    );
    if (!event) return false;
    this.#journal.write({ kind: 'replay asked', eventId: event.id });
    const where = api === undefined ? {} : { api };
    await this.#call(organization, 'POST', `/events/${event.id}/replay`, undefined, where);
    return true;
  }

  async #now(): Promise<Date> {
    const [row] = await this.#stage.query<{ now: Date }>('select caudal.now() as now');
    if (!row) throw new Error('the database tells no time');
    return row.now;
  }

  async #insist(
    organization: Organization,
    method: string,
    path: string,
    body?: object,
    { api, headers = {} }: { api?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> {
    const until = performance.now() + REPEAT_FOR_MS;
    for (let tries = 0; ; tries += 1) {
      const first = tries === 0 && api !== undefined ? { api } : {};
      const reply = await this.#call(organization, method, path, body, { headers, ...first });
      if (reply !== null && reply.status < 300) return reply;
      if (reply !== null && isClear(reply))
        throw new Error(`${method} ${path}: ${reply.status} ${reply.code}`);
      if (performance.now() > until) throw new Error(`${method} ${path} is not answered`);
      await sleep(150);
    }
  }

  /** @returns null when no answer came */
  async #call(
    { apiKey }: Organization,
    method: string,
    path: string,
    body?: object,
    { api, headers = {} }: { api?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply | null> {
    const { apis } = this.#stage;
    this.#asked += 1;
    const url = api ?? apis[this.#asked % apis.length]?.url ?? '';
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          'x-api-key': apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      const code = typeof answer['code'] === 'string' ? answer['code'] : null;
      return { status: response.status, code, body: answer };
    } catch {
      return null;
    }
  }
}
