import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../stack/stack.ts';
import type { ClientJournal } from './client-journal.ts';
import { CUSTOMER } from './customer.ts';
import { type CreatedPayin, isConclusive, REQUEST_TIMEOUT_MS, RETRY_FOR_MS } from './payin-client.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A link that the API acknowledged. */
export interface MerchantLink {
  readonly organization: Organization;
  readonly id: string;
  /** Path of the payer's page; every API serves it. */
  readonly path: string;
  readonly hasCustomer: boolean;
}

interface LinkRequest {
  readonly name: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

export const DETAILS = { ...CUSTOMER, idNumber: '52.123.456', phone: '310 555 0199', authorize: 'yes' };

/** The payer's choice on the page. */
export const METHODS = {
  BRE_B: { method: 'BRE_B' },
  PSE: { method: 'PSE', bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
} as const;

const FINAL = ['CONFIRMED', 'DECLINED', 'CANCELED'];
const END_TIMEOUT_MS = 15_000;

interface Reply {
  readonly status: number;
  readonly code: string | null;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Merchants that create links, and payers that use their pages without a browser. Requests are repeated until answered. */
export class LinkClient {
  readonly #stack: Stack;
  readonly #journal: ClientJournal;
  /** By link: only the browser that started the last attempt can abandon it. */
  readonly #cookies = new Map<string, string>();
  #calls = 0;
  #payers = 0;

  constructor(stack: Stack, journal: ClientJournal) {
    this.#stack = stack;
    this.#journal = journal;
  }

  /** @param api the API that gets the first request; defaults to any */
  async create(organization: Organization, request: LinkRequest, api?: string): Promise<MerchantLink> {
    const { name, amountInCents, hasCustomer } = request;
    const { organizationId } = organization;
    const idempotencyKey = `key-${name}`;
    const about = { organizationId, idempotencyKey, reference: name, amountInCents, hasCustomer };
    this.#journal.write({ kind: 'link_sent', ...about });
    const { body } = await this.#merchant(
      organization,
      '/payment-links',
      {
        amountType: 'FIXED',
        amountInCents,
        reference: name,
        callbackUrl: 'https://shop.example.com/thanks',
        ...(hasCustomer ? { inlineCustomer: CUSTOMER } : {}),
      },
      { 'idempotency-key': idempotencyKey },
      api,
    );
    const id = String(body['paymentLinkId']);
    this.#journal.write({ kind: 'link_created', ...about, linkId: id });
    return { organization, id, path: getPath(String(body['paymentLinkUrl'])), hasCustomer };
  }

  /**
   * Starts an attempt as the payer. A repeat of a successful request returns the open attempt.
   * @returns false when another attempt is open or the link has ended
   */
  async start(link: MerchantLink, rail: keyof typeof METHODS, api?: string): Promise<boolean> {
    const fields = { ...METHODS[rail], ...(link.hasCustomer ? {} : DETAILS) };
    const { headers } = await this.#form(`${link.path}/begin`, fields, api);
    const [cookie = '', payinId] = /attempt_\w+=([\w-]+)\.[^;]*/.exec(headers.get('set-cookie') ?? '') ?? [];
    if (payinId === undefined) return false;
    this.#cookies.set(link.id, cookie);
    this.#journal.write({ kind: 'attempt_started', linkId: link.id, payinId });
    return true;
  }

  /** The cookie of the browser that started the last attempt. */
  cookie({ id }: MerchantLink): string | undefined {
    return this.#cookies.get(id);
  }

  /** The payer changes the payment method, which abandons the open attempt. */
  async change(link: MerchantLink, api?: string): Promise<void> {
    await this.#form(`${link.path}/change`, {}, api, this.cookie(link));
  }

  /** @returns false when the link is already paid */
  async close({ organization, id }: MerchantLink, api?: string): Promise<boolean> {
    const reply = await this.#merchant(organization, `/payment-links/${id}/expire`, {}, {}, api);
    const closed = reply.status === 200;
    if (closed) this.#journal.write({ kind: 'link_closed', linkId: id });
    return closed;
  }

  /** @returns the latest attempt */
  async attempt(link: MerchantLink): Promise<CreatedPayin | null> {
    return (await this.attempts(link, 1))[0] ?? null;
  }

  /** @returns the latest attempts, the newest first: at most one per rail is open */
  async attempts({ organization, id }: MerchantLink, count: number): Promise<CreatedPayin[]> {
    const { body } = await this.#get(organization, `/payins?paymentLinkId=${id}&pageSize=${count}`);
    return (body['data'] as Readonly<Record<string, unknown>>[]).map(toAttempt);
  }

  /** Waits until an attempt is final. @returns false when it is still open after a while */
  async waitForEnd({ organization }: MerchantLink, payinId: string): Promise<boolean> {
    const until = performance.now() + END_TIMEOUT_MS;
    while (performance.now() < until) {
      const { body } = await this.#get(organization, `/payins/${payinId}`);
      if (FINAL.includes(String(body['status']))) return true;
      await sleep(250);
    }
    return false;
  }

  /** Enters the payer's details on the page of a PSE payin without a customer. */
  async enterDetails(organization: Organization, payinId: string, api?: string): Promise<void> {
    const { body } = await this.#get(organization, `/payins/${payinId}`);
    const { pseUrl } = body['sourceData'] as { readonly pseUrl: string | null };
    if (pseUrl !== null) await this.#form(`${getPath(pseUrl)}/payer`, DETAILS, api);
  }

  /** Opens the receipt of a paid link as soon as it exists, and asks for it by e-mail. */
  async mailReceipt({ path }: MerchantLink, api?: string): Promise<void> {
    const until = performance.now() + RETRY_FOR_MS;
    let receiptPath: string | undefined;
    while (receiptPath === undefined) {
      const { text } = await this.#sendUntilAnswered({ method: 'GET', path, headers: {} }, [200]);
      receiptPath = /href="([^"]*\/r\/[^"]*)"/.exec(text)?.[1];
      if (performance.now() > until) throw new Error(`${path} shows no receipt`);
      await sleep(150);
    }
    await this.#sendUntilAnswered({ method: 'GET', path: receiptPath, headers: {} }, [200], api);
    // The server limits the e-mails to one address.
    await this.#form(`${receiptPath}/email`, { email: `payer-${this.#payers}@example.com` }, api);
  }

  #merchant(
    { apiKey }: Organization,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
    api?: string,
  ): Promise<Reply> {
    return this.#sendUntilAnswered(
      {
        method: 'POST',
        path,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      },
      [200, 201, 409],
      api,
    );
  }

  #get({ apiKey }: Organization, path: string): Promise<Reply> {
    return this.#sendUntilAnswered({ method: 'GET', path, headers: { 'x-api-key': apiKey } }, [200]);
  }

  #form(
    path: string,
    values: Readonly<Record<string, string>>,
    api?: string,
    cookie?: string,
  ): Promise<Reply> {
    this.#payers += 1;
    // Each payer uses its own address: the server limits attempts per address.
    const address = `10.${(this.#payers >> 16) & 255}.${(this.#payers >> 8) & 255}.${this.#payers & 255}`;
    return this.#sendUntilAnswered(
      {
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': address,
          ...(cookie === undefined ? {} : { cookie }),
        },
        body: new URLSearchParams(values).toString(),
      },
      [303],
      api,
    );
  }

  async #sendUntilAnswered(call: Call, expected: readonly number[], api?: string): Promise<Reply> {
    const until = performance.now() + RETRY_FOR_MS;
    for (let tries = 0; ; tries += 1) {
      const reply = await this.#send(call, tries === 0 ? api : undefined);
      if (reply && isConclusive(reply)) {
        if (expected.includes(reply.status)) return reply;
        throw new Error(`${call.method} ${call.path}: ${reply.status} ${reply.code}`);
      }
      if (performance.now() > until) throw new Error(`${call.method} ${call.path}: no conclusive response`);
      await sleep(150);
    }
  }

  /** @returns null when no response arrived */
  async #send({ method, path, headers, body }: Call, api?: string): Promise<Reply | null> {
    const { apis } = this.#stack;
    this.#calls += 1;
    const url = api ?? apis[this.#calls % apis.length]?.url ?? '';
    try {
      const response = await fetch(url + path, {
        method,
        headers,
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const text = await response.text();
      const json = (response.headers.get('content-type') ?? '').includes('json');
      const answer = json ? (JSON.parse(text) as Record<string, unknown>) : {};
      const code = typeof answer['code'] === 'string' ? answer['code'] : null;
      return { status: response.status, code, headers: response.headers, body: answer, text };
    } catch {
      return null;
    }
  }
}

function toAttempt(payin: Readonly<Record<string, unknown>>): CreatedPayin {
  const source = payin['sourceData'] as { readonly keyString?: string } | null;
  return {
    id: String(payin['id']),
    reference: String(payin['reference']),
    amountInCents: Number(payin['amountInCents']),
    rail: String(payin['rail']),
    key: source?.keyString ?? null,
  };
}

/** Page URLs contain the first API's host; only the path is used. */
function getPath(url: string): string {
  return new URL(url).pathname;
}
