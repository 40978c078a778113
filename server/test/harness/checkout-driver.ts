import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import type { ApiClient } from './api-client.ts';
import { runOperatorCommand } from './operator-command.ts';
import { PayerBrowser, type PayerPage } from './payer-browser.ts';
import { PayinDriver } from './payin-driver.ts';
import { newReference } from './payin-requests.ts';
import type { PayinBody, PayinPage } from './payin-responses.ts';
import { readPseReference } from './pse-reference.ts';
import type { SimulatorControl } from './simulator-control.ts';
import type { Stack } from './stack.ts';
import { until } from './until.ts';

/** A payment link as a merchant's program declares it, independent of the server's schema. */
export interface LinkBody {
  readonly paymentLinkId: string;
  readonly paymentLinkUrl: string;
  readonly status: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly rail: string | null;
  readonly inlineCustomer: Readonly<Record<string, string>> | null;
}

export interface LinkDetailsBody extends LinkBody {
  readonly reference: string;
  readonly amount: number;
  readonly amountInCents: number;
  readonly currency: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly paidAmountInCents: number;
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

/** Form values for the payer details screen. */
export const PAYER_DETAILS = {
  name: 'Luisa Fernanda Pardo',
  idType: 'CO_CC',
  idNumber: '52.123.456',
  phone: '310 555 0199',
  email: 'luisa@correo.example',
  authorize: 'yes',
} as const;

export const LINK_AMOUNT = 4_980_000;

export function linkRequest(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amountType: 'FIXED',
    amountInCents: LINK_AMOUNT,
    reference: newReference(),
    callbackUrl: 'https://shop.example.com/thanks?order=7',
    ...changes,
  };
}

/** A payment attempt started by a payer, with the payer's browser. */
export interface StartedAttempt {
  readonly payer: PayerBrowser;
  readonly page: PayerPage;
  readonly payin: PayinBody;
}

/** Invariants of payment links: every returned row is a violation. */
const INVARIANT_VIOLATIONS = `
  select 'payin of a link has its own event' as what, p.id::text from caudal.payins p
    join caudal.events e on e.organization_id = p.organization_id and e.resource_id = p.id where p.payment_link_id is not null
  union all
  select 'events of a link do not match its status', l.id::text from caudal.payment_links l
    left join (select resource_id, array_agg(event) as names from caudal.events group by resource_id) e on e.resource_id = l.id
    where e.names is distinct from case l.status when 'PENDING' then null else array['paymentlink.' || lower(l.status)] end
  union all
  select 'open payin of an unpaid link is not its open attempt', p.id::text from caudal.payins p
    join caudal.payment_links l on l.organization_id = p.organization_id and l.id = p.payment_link_id
    where p.status in ('PENDING', 'PROCESSING') and l.status <> 'COMPLETED'
      and p.id is distinct from case p.rail when 'PSE' then l.open_pse_payin_id else l.open_breb_payin_id end
  union all
  select 'open attempt of a link is a final payin', l.id::text from caudal.payment_links l
    join caudal.payins p on p.organization_id = l.organization_id and p.id in (l.open_breb_payin_id, l.open_pse_payin_id)
    where p.status not in ('PENDING', 'PROCESSING')`;

/** Creates payment links as a merchant and pays them as a payer. */
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
    const { status, body, text } = await this.#api.post<LinkBody>('/payment-links', linkRequest(changes));
    if (status !== 201) throw new Error(`POST /payment-links: ${status} ${text}`);
    return body;
  }

  async get({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>): Promise<LinkDetailsBody> {
    const { status, body } = await this.#api.get<LinkDetailsBody>(`/payment-links/${paymentLinkId}`);
    if (status !== 200) throw new Error(`GET /payment-links: ${status}`);
    return body;
  }

  close({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>) {
    return this.#api.post<LinkDetailsBody>(`/payment-links/${paymentLinkId}/expire`, {});
  }

  waitForStatus(
    link: Pick<LinkBody, 'paymentLinkId'>,
    status: string,
    withinMs = PATIENCE_MS,
  ): Promise<LinkDetailsBody> {
    return until(
      `the link is ${status}`,
      async () => {
        const seen = await this.get(link);
        return seen.status === status ? seen : null;
      },
      withinMs,
    );
  }

  /** The link's payins, newest first. */
  async attempts({ paymentLinkId }: Pick<LinkBody, 'paymentLinkId'>): Promise<PayinPage['data']> {
    const { body } = await this.#api.get<PayinPage>(`/payins?paymentLinkId=${paymentLinkId}&pageSize=100`);
    return body.data;
  }

  async latestAttempt(link: Pick<LinkBody, 'paymentLinkId'>): Promise<PayinBody> {
    const [attempt] = await this.attempts(link);
    if (!attempt) throw new Error('the link has no payment attempt');
    const { body } = await this.#api.get<PayinBody>(`/payins/${attempt.id}`);
    return body;
  }

  /** Events of a link or payin, newest first. */
  async events(resourceId: string): Promise<readonly EventBody[]> {
    const { body } = await this.#api.get<{ data: EventBody[] }>(`/events?resourceId=${resourceId}`);
    return body.data;
  }

  /** Walks the checkout from the link to a Bre-B key that is registered at the rail. */
  async breb(link: LinkBody, payer = new PayerBrowser()): Promise<StartedAttempt & { readonly key: string }> {
    let page = await payer.open(link.paymentLinkUrl);
    if (page.h1 === '¿Cómo quiere pagar?') page = await payer.click(page, 'Bre-B');
    page = await payer.submit(page);
    const { brebKey: key } = page;
    await until('the key is registered', async () => (await this.simulator.key(key)) !== null);
    return { payer, page, payin: await this.latestAttempt(link), key };
  }

  /** Walks the checkout from the link to the redirect to the bank. */
  async pse(
    link: LinkBody,
    payer = new PayerBrowser(),
    bank = 'CO_BANCOLOMBIA',
  ): Promise<StartedAttempt & { readonly reference: string }> {
    let page = await payer.open(link.paymentLinkUrl);
    if (page.h1 === '¿Cómo quiere pagar?') page = await payer.click(page, 'PSE');
    page = await payer.submit(page, { bank });
    if (page.h1 === 'Sus datos') page = await payer.submit(page, PAYER_DETAILS);
    if (!page.h1.startsWith('Abriendo ')) throw new Error(`expected the bank redirect, got "${page.h1}"`);
    const payin = await this.latestAttempt(link);
    return { payer, page, payin, reference: await readPseReference(this.#stack.database, payin.id) };
  }

  /**
   * Checks the invariants of links and of the ledger; call it at the end of a test. @throws on a violation
   */
  async checkInvariants(): Promise<void> {
    await this.outcomes.waitUntilIdle();
    await this.checkLedger();
    const broken = await this.outcomes.query<{ what: string; id: string }>(INVARIANT_VIOLATIONS);
    if (broken.length > 0) throw new Error(`invariant violations: ${JSON.stringify(broken)}`);
  }

  /** @throws when `ledger verify` reports an inconsistency */
  async checkLedger(): Promise<void> {
    const { code, stdout, stderr } = await runOperatorCommand(this.#stack.settings, 'ledger', 'verify');
    if (code !== 0) throw new Error(`ledger is inconsistent: ${stdout}${stderr}`);
  }
}
