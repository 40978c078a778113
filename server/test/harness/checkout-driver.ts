import type { ApiClient } from './api-client.ts';
import { runOperatorCommand } from './operator-command.ts';
import { PayerBrowser, type PayerPage } from './payer-browser.ts';
import type { PayinBody, PayinPage } from './payin-answers.ts';
import { PayinDriver } from './payin-driver.ts';
import { newReference } from './payin-requests.ts';
import { pseReferenceOf } from './pse-reference.ts';
import type { SimulatorControl } from './simulator-control.ts';
import type { Stack } from './stack.ts';
import { until } from './until.ts';

/** A payment link as a merchant's program would declare it, from interface.md and contract.md. */
export interface LinkBody {
  readonly paymentLinkId: string;
  readonly paymentLinkUrl: string;
  readonly status: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly rail: string | null;
  readonly inlineCustomer: Readonly<Record<string, string>> | null;
}

export interface WholeLinkBody extends LinkBody {
  readonly reference: string;
  readonly amount: number;
  readonly amountInCents: number;
  readonly currency: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly completedAt: string | null;
  readonly payinId: string | null;
}

export interface EventBody {
  readonly id: string;
  readonly event: string;
  readonly resource: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a payer types on the screen of details. */
export const DETAILS = {
  name: 'Luisa Fernanda Pardo',
  idType: 'CO_CC',
  idNumber: '52.123.456',
  phone: '310 555 0199',
  email: 'luisa@correo.example',
  authorize: 'yes',
} as const;

export const LINK_AMOUNT = 4_980_000;

export function openLink(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amountType: 'FIXED',
    amountInCents: LINK_AMOUNT,
    reference: newReference(),
    callbackUrl: 'https://shop.example.com/thanks?order=7',
    ...changes,
  };
}

/** An attempt that a payer began, with the browser it was begun in. */
export interface BegunAttempt {
  readonly payer: PayerBrowser;
  readonly page: PayerPage;
  readonly payin: PayinBody;
}

/** What must hold of all links whatever happened. */
const BROKEN_PROMISES = `
  select 'a payin of a link with an event' as what, p.id::text from caudal.payins p
    join caudal.events e on e.organization_id = p.organization_id and e.resource_id = p.id where p.payment_link_id is not null
  union all
  select 'a link whose events are not the one of its state', l.id::text from caudal.payment_links l
    left join (select resource_id, array_agg(event) as told from caudal.events group by resource_id) e on e.resource_id = l.id
    where e.told is distinct from case l.status when 'PENDING' then null else array['paymentlink.' || lower(l.status)] end
  union all
  select 'an open payin that is not the one its link knows', p.id::text from caudal.payins p
    join caudal.payment_links l on l.organization_id = p.organization_id and l.id = p.payment_link_id
    where p.status in ('PENDING', 'PROCESSING') and l.open_payin_id is distinct from p.id
  union all
  select 'a link that waits for a payin that has ended', l.id::text from caudal.payment_links l
    join caudal.payins p on p.organization_id = l.organization_id and p.id = l.open_payin_id
    where p.status not in ('PENDING', 'PROCESSING')`;

/** A shop that makes links, and payers who pay them. */
export class CheckoutDriver {
  readonly outcomes: PayinDriver;
  readonly simulator: SimulatorControl;
  readonly #stack: Stack;
  readonly #api: ApiClient;

  constructor(stack: Stack) {
    this.#stack = stack;
    this.#api = stack.api;
    this.outcomes = new PayinDriver(stack);
    this.simulator = this.outcomes.simulator;
  }

  async link(changes: Record<string, unknown> = {}): Promise<LinkBody> {
    const { status, body, text } = await this.#api.post<LinkBody>('/payment-links', openLink(changes));
    if (status !== 201) throw new Error(`POST /payment-links: ${status} ${text}`);
    return body;
  }

  async get({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>): Promise<WholeLinkBody> {
    const { status, body } = await this.#api.get<WholeLinkBody>(`/payment-links/${paymentLinkId}`);
    if (status !== 200) throw new Error(`GET /payment-links: ${status}`);
    return body;
  }

  close({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>) {
    return this.#api.post<WholeLinkBody>(`/payment-links/${paymentLinkId}/expire`, {});
  }

  reaches(link: Pick<LinkBody, 'paymentLinkId'>, status: string, withinMs = 10_000): Promise<WholeLinkBody> {
    return until(
      `the link is ${status}`,
      async () => {
        const seen = await this.get(link);
        return seen.status === status ? seen : null;
      },
      withinMs,
    );
  }

  /** Its payins, the latest first. */
  async attempts({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>): Promise<PayinPage['data']> {
    const { body } = await this.#api.get<PayinPage>(`/payins?paymentLinkId=${paymentLinkId}&pageSize=100`);
    return body.data;
  }

  async latest(link: Pick<LinkBody, 'paymentLinkId'>): Promise<PayinBody> {
    const [attempt] = await this.attempts(link);
    if (!attempt) throw new Error('the link has no attempt');
    const { body } = await this.#api.get<PayinBody>(`/payins/${attempt.id}`);
    return body;
  }

  /** All that merchants are told about a link or a payin, the latest first. */
  async events(resourceId: string): Promise<readonly EventBody[]> {
    const { body } = await this.#api.get<{ data: EventBody[] }>(`/events?resourceId=${resourceId}`);
    return body.data;
  }

  /** From the first look at the link to a key that the network knows. */
  async breb(link: LinkBody, payer = new PayerBrowser()): Promise<BegunAttempt & { readonly key: string }> {
    let page = await payer.open(link.paymentLinkUrl);
    if (page.h1 === '¿Cómo quiere pagar?') page = await payer.click(page, 'Bre-B');
    page = await payer.submit(page, page.h1 === 'Sus datos' ? DETAILS : {});
    const { key } = page;
    await until('the key is registered', async () => (await this.simulator.key(key)) !== null);
    return { payer, page, payin: await this.latest(link), key };
  }

  /** From the first look at the link to the way to the bank. */
  async pse(
    link: LinkBody,
    payer = new PayerBrowser(),
    bank = 'CO_BANCOLOMBIA',
  ): Promise<BegunAttempt & { readonly reference: string }> {
    let page = await payer.open(link.paymentLinkUrl);
    if (page.h1 === '¿Cómo quiere pagar?') page = await payer.click(page, 'PSE');
    page = await payer.submit(page, { bank });
    if (page.h1 === 'Sus datos') page = await payer.submit(page, DETAILS);
    if (!page.h1.startsWith('Lo estamos llevando')) throw new Error(`not at the bank but at "${page.h1}"`);
    const payin = await this.latest(link);
    return { payer, page, payin, reference: await pseReferenceOf(this.#stack.database, payin.id) };
  }

  /** For after a test of links, whatever it was about. @throws when a promise is broken */
  async allIsWell(): Promise<void> {
    await this.outcomes.quiet();
    await this.booksAreWhole();
    const broken = await this.outcomes.query<{ what: string; id: string }>(BROKEN_PROMISES);
    if (broken.length > 0) throw new Error(`broken promises: ${JSON.stringify(broken)}`);
  }

  /** @throws when `ledger verify` finds anything */
  async booksAreWhole(): Promise<void> {
    const { code, stdout, stderr } = await runOperatorCommand(this.#stack.settings, 'ledger', 'verify');
    if (code !== 0) throw new Error(`the books are broken: ${stdout}${stderr}`);
  }
}
