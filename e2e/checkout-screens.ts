import type { Page } from 'playwright-core';
import { type CheckoutStage, customer, heading } from './checkout-stage.ts';

/** A checkout screen and the steps to open it. */
export interface ScreenCase {
  readonly name: string;
  readonly open: (stage: CheckoutStage, page: Page) => Promise<void>;
  /** Undoes what `open` changed for all pages. */
  readonly close?: (stage: CheckoutStage) => Promise<unknown>;
  /** The screen answers a form, so it has no URL of its own. */
  readonly answersForm?: true;
}

type Link = Awaited<ReturnType<CheckoutStage['link']>>;

/** Pays a link that needs only one tap. */
async function pay(stage: CheckoutStage, page: Page, idNumber?: string): Promise<Link> {
  const link = await stage.link({ rail: 'BRE_B', ...customer(idNumber) });
  await page.goto(link.url);
  await page.locator('form .button').click();
  return link;
}

async function goToBank(stage: CheckoutStage, page: Page): Promise<Link> {
  const link = await stage.link({ rail: 'PSE', pse: { bank: 'CO_NEQUI' }, ...customer() });
  await page.goto(link.url);
  await page.locator('form .last .button').click();
  await page.waitForURL(/\/bank\//);
  return link;
}

export const SCREENS: readonly ScreenCase[] = [
  { name: 'method', open: async (stage, page) => void (await page.goto((await stage.link()).url)) },
  {
    name: 'details',
    open: async (stage, page) =>
      void (await page.goto(`${(await stage.link()).url}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`)),
  },
  {
    name: 'details-wrong',
    answersForm: true,
    open: async (stage, page) => {
      await page.goto(`${(await stage.link()).url}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`);
      await page.locator('form .button').click();
      await page.locator('.wrong').waitFor();
    },
  },
  { name: 'bank', open: async (stage, page) => void (await page.goto(`${(await stage.link()).url}?m=PSE`)) },
  {
    name: 'start',
    open: async (stage, page) =>
      void (await page.goto((await stage.link({ rail: 'BRE_B', ...customer() })).url)),
  },
  {
    name: 'key',
    open: async (stage, page) => {
      await pay(stage, page);
      await page.locator('.waiting').waitFor();
    },
  },
  {
    name: 'opening',
    open: async (stage, page) => {
      const { id, url } = await goToBank(stage, page);
      await stage.stack.database.query(
        'update caudal.payins set pse_url = null, pse_url_at = null where payment_link_id = $1',
        [id],
      );
      await page.goto(url);
      await heading(page, /Abriendo la página de su banco|Opening your bank/);
    },
  },
  {
    name: 'closing',
    open: async (stage, page) => {
      const { id } = await pay(stage, page);
      await page.locator('.waiting').waitFor();
      // Expired, and the worker does not close the key yet.
      await stage.stack.database.query(
        `update caudal.payins set expires_at = caudal.now(), rail_due_at = caudal.now() + interval '1 hour'
         where payment_link_id = $1`,
        [id],
      );
      await page.reload();
      await heading(page, /Un momento|One moment/);
    },
  },
  {
    name: 'bank-question',
    open: async (stage, page) => {
      await page.goto((await goToBank(stage, page)).url);
      await heading(page, /Alcanzó a autorizar|Did you authorize/);
    },
  },
  {
    name: 'other-payer',
    open: async (stage, page) => {
      const { url } = await goToBank(stage, page);
      await page.context().clearCookies({ name: /^attempt_/ });
      await page.goto(url);
      await heading(page, /Hay un pago en curso|payment is in progress/);
    },
  },
  {
    name: 'late',
    open: async (stage, page) => {
      await pay(stage, page);
      const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
      await stage.waitForRegistration(key);
      await stage.closeAttempt(page);
      await stage.driver.simulator.pay({ key, anyway: true });
      await heading(page, /llegó tarde|arrived late/);
    },
  },
  {
    name: 'pending',
    open: async (stage, page) => {
      const { url } = await goToBank(stage, page);
      await page.goto(`${url}?paid=1`);
      await heading(page, /Su banco está confirmando|Your bank is confirming/);
    },
  },
  {
    name: 'to-bank',
    open: async (stage, page) => {
      const { url } = await goToBank(stage, page);
      // The script redirects to the bank only once, so a returning payer stays on this page.
      await page.goto(`${url}?go=1`);
      await page.locator('[data-go]').waitFor();
    },
  },
  {
    name: 'declined',
    open: async (stage, page) => {
      await pay(stage, page, '1000000003');
      await heading(page, /no aprobó|did not approve/);
    },
  },
  {
    name: 'canceled',
    open: async (stage, page) => {
      const { url } = await goToBank(stage, page);
      await page.getByRole('button', { name: 'Cancelar' }).click();
      await page.getByRole('link', { name: 'Volver al comercio' }).waitFor();
      await page.goto(url);
      await heading(page, /El pago no se completó|was not completed/);
    },
  },
  {
    name: 'underpaid',
    open: async (stage, page) => {
      await pay(stage, page);
      await page.locator('[data-key]').first().waitFor({ state: 'attached' });
      await stage.payKey(page, '30000.00');
      await heading(page, /Recibimos|We received/);
    },
  },
  {
    name: 'confirmed',
    open: async (stage, page) => {
      await pay(stage, page, '1000000001');
      await heading(page, /Pago recibido|Payment received/);
    },
  },
  {
    name: 'receipt',
    open: async (stage, page) => {
      await pay(stage, page, '1000000001');
      await heading(page, /Pago recibido|Payment received/);
      const receipt = await page.locator('a[href*="/r/"]').getAttribute('href');
      await page.goto(new URL(receipt ?? '', page.url()).href);
      await heading(page, /Comprobante|receipt/);
    },
  },
  {
    name: 'already-paid',
    open: async (stage, page) => {
      await pay(stage, page, '1000000001');
      await heading(page, /Pago recibido|Payment received/);
      const url = page.url();
      await page.context().clearCookies({ name: /^attempt_/ });
      await page.goto(url);
      await heading(page, /ya fue realizado|already made/);
    },
  },
  {
    name: 'link-expired',
    open: async (stage, page) => {
      const { id, url } = await stage.link();
      await stage.stack.api.post(`/payment-links/${id}/expire`, {});
      await page.goto(url);
      await heading(page, /venció|has expired/);
    },
  },
  {
    name: 'unknown',
    open: async (stage, page) => {
      await page.goto((await stage.link()).url.replace(/.$/, '-'));
      await heading(page, /No encontramos|cannot find/);
    },
  },
  {
    name: 'too-many-forms',
    answersForm: true,
    open: async (stage, page) => {
      const { url } = await stage.link();
      await page.goto(`${url}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`);
      const form = { method: 'PSE', bank: 'CO_NEQUI', personType: 'INDIVIDUAL' };
      await Promise.all(Array.from({ length: 20 }, () => page.request.post(`${url}/begin`, { form })));
      await page.locator('form .button').click();
      await heading(page, /Demasiados intentos|Too many attempts/);
    },
  },
  {
    name: 'error',
    open: async (stage, page) => {
      const { url } = await stage.link();
      await stage.stack.database.query('revoke select on caudal.payment_links from caudal_read');
      await page.goto(url);
      await heading(page, /No pudimos consultar|could not look up/);
    },
    close: async (stage) => {
      await stage.stack.database.query('grant select on caudal.payment_links to caudal_read');
      stage.forgetErrors(/status of 500/);
    },
  },
];
