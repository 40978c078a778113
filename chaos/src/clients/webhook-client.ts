import { setTimeout as sleep } from 'node:timers/promises';
import { retryUntilDeadline } from '../faults/killer.ts';
import type { Stack } from '../stack/stack.ts';
import type { Sinks } from '../webhooks/sinks.ts';
import type { ClientJournal } from './client-journal.ts';
import { isConclusive, REQUEST_TIMEOUT_MS, RETRY_FOR_MS } from './payin-client.ts';

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

type Target = Pick<Stack, 'query'> & { readonly apis: readonly { readonly url: string }[] };

/** Merchants' programs that manage endpoints: they repeat each request until it is answered and journal the response. */
export class WebhookClient {
  readonly #stack: Target;
  readonly #journal: ClientJournal;
  readonly #sinks: Sinks;
  #calls = 0;

  constructor(stack: Target, journal: ClientJournal, sinks: Sinks) {
    this.#stack = stack;
    this.#journal = journal;
    this.#sinks = sinks;
  }

  /** @param events null subscribes to all. @param api the API that gets the first request; defaults to any */
  async create(
    organization: Organization,
    sink: string,
    events: readonly string[] | null,
    api?: string,
  ): Promise<MerchantEndpoint> {
    const url = await this.#sinks.open(sink);
    const request = { url, description: sink, ...(events === null ? {} : { events }) };
    const { body } = await this.#sendUntilAnswered(organization, 'POST', '/webhook-endpoints', request, {
      headers: { 'idempotency-key': `endpoint-${sink}` },
      ...(api === undefined ? {} : { api }),
    });
    const endpointId = String(body['id']);
    // Events from this business time on must reach the endpoint.
    const knownSince = await retryUntilDeadline(() => this.#now());
    this.#journal.write({
      kind: 'endpoint_created',
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
    this.#journal.write({ kind: 'endpoint_status_requested', endpointId: id, status });
    await this.#sendUntilAnswered(organization, 'PATCH', `/webhook-endpoints/${id}`, { status });
    this.#journal.write({ kind: 'endpoint_status_set', endpointId: id, status });
  }

  /** Repeats until answered: a rotation whose response is lost creates a secret that the merchant does not know. */
  async rotate({ organization, id }: MerchantEndpoint): Promise<void> {
    this.#journal.write({ kind: 'rotation_requested', endpointId: id });
    const { body } = await this.#sendUntilAnswered(
      organization,
      'POST',
      `/webhook-endpoints/${id}/rotate-secret`,
    );
    this.#journal.write({ kind: 'rotated', endpointId: id, secret: String(body['secret']) });
  }

  /** Sends one request, answered or not. */
  async sendTest({ organization, id }: MerchantEndpoint, api?: string): Promise<void> {
    const target = api === undefined ? {} : { api };
    await this.#call(organization, 'POST', `/webhook-endpoints/${id}/test`, undefined, target);
  }

  /** Replays a random event of the organization. @returns false when it has none */
  async replayOne(organization: Organization, api?: string): Promise<boolean> {
    const [event] = await this.#stack.query<{ id: string }>(
      `select id from caudal.events where organization_id = $1 and resource <> 'webhook' order by random() limit 1`,
      [organization.organizationId],
    );
    if (!event) return false;
    this.#journal.write({ kind: 'replay_requested', eventId: event.id });
    const target = api === undefined ? {} : { api };
    await this.#call(organization, 'POST', `/events/${event.id}/replay`, undefined, target);
    return true;
  }

  async #now(): Promise<Date> {
    const [row] = await this.#stack.query<{ now: Date }>('select caudal.now() as now');
    if (!row) throw new Error('the database returned no time');
    return row.now;
  }

  async #sendUntilAnswered(
    organization: Organization,
    method: string,
    path: string,
    body?: object,
    { api, headers = {} }: { api?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> {
    const until = performance.now() + RETRY_FOR_MS;
    for (let tries = 0; ; tries += 1) {
      const first = tries === 0 && api !== undefined ? { api } : {};
      const reply = await this.#call(organization, method, path, body, { headers, ...first });
      if (reply !== null && reply.status < 300) return reply;
      if (reply !== null && isConclusive(reply))
        throw new Error(`${method} ${path}: ${reply.status} ${reply.code}`);
      if (performance.now() > until) throw new Error(`${method} ${path}: no conclusive response`);
      await sleep(150);
    }
  }

  /** @returns null when no response arrived */
  async #call(
    { apiKey }: Organization,
    method: string,
    path: string,
    body?: object,
    { api, headers = {} }: { api?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply | null> {
    const { apis } = this.#stack;
    this.#calls += 1;
    const url = api ?? apis[this.#calls % apis.length]?.url ?? '';
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          'x-api-key': apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      const code = typeof answer['code'] === 'string' ? answer['code'] : null;
      return { status: response.status, code, body: answer };
    } catch {
      return null;
    }
  }
}
