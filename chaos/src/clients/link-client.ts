import { setTimeout as sleep } from 'node:timers/promises';
import { type CreatedPayin, isClear, PATIENCE_MS, REPEAT_FOR_MS } from './client.ts';
import type { ClientJournal } from './client-journal.ts';
import type { Stage } from './stage.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A link that its merchant was told of. */
export interface MerchantLink {
  readonly organization: Organization;
  readonly id: string;
  /** Of the payer's page, whichever API shows it. */
  readonly path: string;
  readonly hasCustomer: boolean;
}

interface LinkRequest {
  readonly name: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

const CUSTOMER = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
};

const DETAILS = { ...CUSTOMER, idNumber: '52.123.456', phone: '310 555 0199', authorize: 'yes' };

/** What a payer chooses on the page. */
const METHODS = {
  BRE_B: { method: 'BRE_B' },
  PSE: { method: 'PSE', bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
} as const;

interface Reply {
  readonly status: number;
  readonly code: string | null;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Merchants who make links, and payers on their pages without a browser. Each asks until answered, at one API after the other. */
export class LinkClient {
  readonly #stage: Stage;
  readonly #journal: ClientJournal;
  #turn = 0;
  #payers = 0;

  constructor(stage: Stage, journal: ClientJournal) {
    this.#stage = stage;
    this.#journal = journal;
  }

  /** @param api where it is asked for first; any without it */
  async create(organization: Organization, request: LinkRequest, api?: string): Promise<MerchantLink> {
    const { name, amountInCents, hasCustomer } = request;
    const { organizationId } = organization;
    const idempotencyKey = `key-${name}`;
    const about = { organizationId, idempotencyKey, reference: name, amountInCents, hasCustomer };
    this.#journal.write({ kind: 'link sent', ...about });
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
    this.#journal.write({ kind: 'link created', ...about, linkId: id });
    return { organization, id, path: pathOf(String(body['paymentLinkUrl'])), hasCustomer };
  }

  /**
   * The payer begins to pay. A repeat of what went through finds the attempt under way.
   * @returns false when another was first, or the link has ended
   */
  async begin(link: MerchantLink, rail: keyof typeof METHODS, api?: string): Promise<boolean> {
    const typed = { ...METHODS[rail], ...(link.hasCustomer ? {} : DETAILS) };
    const { headers } = await this.#form(`${link.path}/begin`, typed, api);
    const payinId = /attempt=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
    if (payinId === undefined) return false;
    this.#journal.write({ kind: 'attempt begun', linkId: link.id, payinId });
    return true;
  }

  /** The payer wants another method: what is under way is given up. */
  async change({ path }: MerchantLink, api?: string): Promise<void> {
    await this.#form(`${path}/change`, {}, api);
  }

  /** @returns false when it was paid before */
  async close({ organization, id }: MerchantLink, api?: string): Promise<boolean> {
    const reply = await this.#merchant(organization, `/payment-links/${id}/expire`, {}, {}, api);
    const closed = reply.status === 200;
    if (closed) this.#journal.write({ kind: 'link closed', linkId: id });
    return closed;
  }

  /** The attempt that was begun last. */
  async attempt({ organization, id }: MerchantLink): Promise<CreatedPayin | null> {
    const { body } = await this.#ask(organization, `/payins?paymentLinkId=${id}&pageSize=1`);
    const [payin] = body['data'] as Readonly<Record<string, unknown>>[];
    if (!payin) return null;
    const source = payin['sourceData'] as { readonly keyString?: string } | null;
    return {
      id: String(payin['id']),
      reference: String(payin['reference']),
      amountInCents: Number(payin['amountInCents']),
      rail: String(payin['rail']),
      key: source?.keyString ?? null,
    };
  }

  /** Whoever opens the page of a PSE payin without a customer types who they are. */
  async giveDetails(organization: Organization, payinId: string, api?: string): Promise<void> {
    const { body } = await this.#ask(organization, `/payins/${payinId}`);
    const { pseUrl } = body['sourceData'] as { readonly pseUrl: string | null };
    if (pseUrl !== null) await this.#form(`${pathOf(pseUrl)}/payer`, DETAILS, api);
  }

  #merchant(
    { apiKey }: Organization,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
    api?: string,
  ): Promise<Reply> {
    return this.#insist(
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

  #ask({ apiKey }: Organization, path: string): Promise<Reply> {
    return this.#insist({ method: 'GET', path, headers: { 'x-api-key': apiKey } }, [200]);
  }

  #form(path: string, values: Readonly<Record<string, string>>, api?: string): Promise<Reply> {
    this.#payers += 1;
    // Each payer comes from elsewhere: one address may begin only so often.
    const address = `10.${(this.#payers >> 16) & 255}.${(this.#payers >> 8) & 255}.${this.#payers & 255}`;
    return this.#insist(
      {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
        body: new URLSearchParams(values).toString(),
      },
      [303],
      api,
    );
  }

  async #insist(call: Call, clear: readonly number[], api?: string): Promise<Reply> {
    const until = performance.now() + REPEAT_FOR_MS;
    for (let tries = 0; ; tries += 1) {
      const reply = await this.#send(call, tries === 0 ? api : undefined);
      if (reply && isClear(reply)) {
        if (clear.includes(reply.status)) return reply;
        throw new Error(`${call.method} ${call.path}: ${reply.status} ${reply.code}`);
      }
      if (performance.now() > until) throw new Error(`${call.method} ${call.path} is not answered`);
      await sleep(150);
    }
  }

  /** @returns null when no answer came */
  async #send({ method, path, headers, body }: Call, api?: string): Promise<Reply | null> {
    const { apis } = this.#stage;
    this.#turn += 1;
    const url = api ?? apis[this.#turn % apis.length]?.url ?? '';
    try {
      const response = await fetch(url + path, {
        method,
        headers,
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await response.text();
      const json = (response.headers.get('content-type') ?? '').includes('json');
      const answer = json ? (JSON.parse(text) as Record<string, unknown>) : {};
      const code = typeof answer['code'] === 'string' ? answer['code'] : null;
      return { status: response.status, code, headers: response.headers, body: answer };
    } catch {
      return null;
    }
  }
}

/** Addresses of pages name the first API. */
function pathOf(url: string): string {
  return new URL(url).pathname;
}
