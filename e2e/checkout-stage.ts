import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { PayinDriver, type PayinView } from '../server/test/harness/payin-driver.ts';
import { CUSTOMER, newReference } from '../server/test/harness/payin-requests.ts';
import { type Stack, startStack } from '../server/test/harness/stack.ts';
import { until } from '../server/test/harness/until.ts';
import { openBrowser, PHONE } from './browser.ts';

const AMOUNT = 4_980_000;
export const SHOWN_AMOUNT = '$ 49.800';

/** A stack with simulated rails, browsers for payers, and the page of the shop that payers return to. */
export class CheckoutStage {
  readonly stack: Stack;
  readonly driver: PayinDriver;
  readonly browser: Browser;
  readonly #shop: Server;
  readonly #contexts: BrowserContext[] = [];
  /** Script errors and content security policy violations reported by browsers. */
  browserErrors: readonly string[] = [];

  private constructor(stack: Stack, browser: Browser, shop: Server) {
    this.stack = stack;
    this.driver = new PayinDriver(stack);
    this.browser = browser;
    this.#shop = shop;
  }

  /** @param databaseUrl replaces the database URL of the server, for a proxy that interrupts it */
  static async open(
    settings: Record<string, string> = {},
    databaseUrl?: (direct: string) => string,
  ): Promise<CheckoutStage> {
    const shop = createServer((_request, response) => response.end('<h1>Gracias por su compra</h1>'));
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    const [stack, browser] = await Promise.all([
      startStack({
        apis: 1,
        workers: 1,
        settings: { CAUDAL_WORKER_POLL_MS: '50', ...settings },
        ...(databaseUrl ? { databaseUrl } : {}),
      }),
      openBrowser(),
    ]);
    return new CheckoutStage(stack, browser, shop);
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.#shop.close();
    await this.stack.stop();
  }

  get shopUrl(): string {
    return `http://127.0.0.1:${(this.#shop.address() as AddressInfo).port}/gracias?pedido=7`;
  }

  async link(changes: Record<string, unknown> = {}): Promise<{ id: string; url: string }> {
    const { status, body } = await this.stack.api.post('/payment-links', {
      amountType: 'FIXED',
      amountInCents: AMOUNT,
      reference: newReference(),
      callbackUrl: this.shopUrl,
      ...changes,
    });
    if (status !== 201) throw new Error(`POST /payment-links: ${status} ${JSON.stringify(body)}`);
    return { id: String(body['paymentLinkId']), url: String(body['paymentLinkUrl']) };
  }

  async linkStatus(id: string): Promise<string> {
    return String((await this.stack.api.get(`/payment-links/${id}`)).body['status']);
  }

  /** The attempts of a link, newest first. */
  async attempts(id: string): Promise<PayinView[]> {
    const { body } = await this.stack.api.get(`/payins?paymentLinkId=${id}`);
    return body['data'] as PayinView[];
  }

  /** A payer with a separate browser context. */
  async payer(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const viewport = options.viewport ?? PHONE;
    // Pages choose between phone and desktop by pointer, not by width.
    const isMobile = viewport.width < 640;
    const context = await this.browser.newContext({
      viewport,
      locale: 'es-CO',
      isMobile,
      hasTouch: isMobile,
      ...options,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const report = (error: string) => {
      this.browserErrors = [...this.browserErrors, error];
    };
    page.on('pageerror', (error) => report(error.message));
    page.on('console', (message) => {
      // Browsers also log expected 4xx responses, such as 422 for an invalid form.
      if (message.type() === 'error' && !/status of 4(?:04|22|29)/.test(message.text()))
        report(message.text());
    });
    return page;
  }

  /** For a test that causes an error response on purpose. */
  forgetErrors(expected: RegExp): void {
    this.browserErrors = this.browserErrors.filter((error) => !expected.test(error));
  }

  /** Pays the key that the page shows. */
  async payKey(page: Page, amount?: string): Promise<void> {
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    const { simulator } = this.driver;
    await this.waitForRegistration(key);
    await simulator.pay({ key, ...(amount === undefined ? {} : { amount }) });
  }

  /** Ends the Bre-B attempt that the page shows, as if its key had expired. */
  async closeAttempt(page: Page): Promise<void> {
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await this.stack.database.query(
      `update caudal.payins set expires_at = caudal.now(), rail_task = 'close', rail_due_at = caudal.now() where breb_key = $1`,
      [key],
    );
    await page.getByRole('heading', { name: /La llave venció|key has expired/ }).waitFor();
  }

  async waitForRegistration(key: string): Promise<void> {
    await until(`${key} is registered`, () => this.driver.simulator.key(key));
  }
}

export function customer(idNumber = CUSTOMER.idNumber): Record<string, unknown> {
  return { inlineCustomer: { ...CUSTOMER, idNumber } };
}

/** Fills in the form with the payer's details. */
export async function typeDetails(page: Page, idNumber = '52123456'): Promise<void> {
  await page.locator('#name').fill('Luisa Fernanda Pardo');
  await page.locator('#idType').selectOption('CO_CC');
  await page.locator('#idNumber').fill(idNumber);
  await page.locator('#phone').fill('310 555 0199');
  await page.locator('#email').fill('luisa@correo.example');
  await page.locator('#authorize').check();
}

/** Waits for the visible heading: a page may contain one for phones and one for desktops. */
export async function heading(page: Page, text: string | RegExp): Promise<boolean> {
  await page.getByRole('heading', { level: 1, name: text }).waitFor();
  return true;
}
