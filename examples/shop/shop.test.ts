import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/free-port.ts';
import { PayerBrowser, type PayerPage } from '../../server/test/harness/payer-browser.ts';
import { SimulatorControl } from '../../server/test/harness/simulator-control.ts';
import { until } from '../../server/test/harness/until.ts';
import { type Dev, startDev } from '../dev.ts';
import { type Program, startProgram } from '../program.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caudal-shop-'));
const PAYER = {
  name: 'Luisa Fernanda Pardo',
  idType: 'CO_CC',
  idNumber: '52123456',
  phone: '310 555 0199',
  email: 'luisa@correo.example',
  authorize: 'yes',
};

let dev: Dev;
let shop: Program;
let shopUrl: string;
beforeAll(async () => {
  dev = await startDev();
  const port = await freePort();
  shopUrl = `http://127.0.0.1:${port}`;
  const { secret } = await dev.post<{ secret: string }>('/webhook-endpoints', { url: `${shopUrl}/webhooks` });
  shop = open({ WEBHOOK_SECRET: secret, PORT: String(port) });
  await shop.printed(/shop at/);
});
afterAll(async () => {
  await shop?.stop();
  await dev?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function open(environment: Record<string, string>): Program {
  return startProgram(HERE, 'shop.ts', {
    CAUDAL_API_KEY: dev.apiKey,
    CAUDAL_BASE_URL: dev.baseUrl,
    SHOP_FILE: join(folder, 'shop.sqlite'),
    ...environment,
  });
}

/** The callbackUrl of the link is the order page. */
async function newestLink(): Promise<{ paymentLinkId: string; callbackUrl: string }> {
  const { data } = await dev.get<{ data: { paymentLinkId: string }[] }>('/payment-links?pageSize=1');
  return dev.get(`/payment-links/${data[0]?.paymentLinkId}`);
}

/** Buys an item and opens the checkout page. */
async function buy(payer: PayerBrowser): Promise<PayerPage> {
  return payer.submit(await payer.open(shopUrl));
}

async function payByKey(payer: PayerBrowser, link: PayerPage): Promise<void> {
  const next = await payer.submit(await payer.click(link, 'Bre-B'), {});
  const page = next.h1 === 'Sus datos' ? await payer.submit(next, PAYER) : next;
  const network = new SimulatorControl(dev.simulatorUrl);
  await until('the network knows the key and it is paid', async () => {
    const [result] = await network.pay({ key: page.brebKey });
    return result?.executionId;
  });
}

async function waitForHeading(payer: PayerBrowser, url: string, h1: string): Promise<void> {
  await until(`the page shows "${h1}"`, async () => (await payer.open(url)).h1 === h1);
}

describe('examples/shop', () => {
  it('redirects a buyer to the payment page and shows the order as paid after the event', async () => {
    const payer = new PayerBrowser();
    const link = await buy(payer);
    expect(link.url).toMatch(/\/checkout\//);
    expect(link.text).toContain('49.800');
    const { callbackUrl: order } = await newestLink();
    expect((await payer.open(order)).h1).toBe('Esperando su pago');
    await payByKey(payer, link);
    await waitForHeading(payer, order, 'Pago recibido');
    // The shop prints the event after it has stored it.
    await shop.printed(/event paymentlink\.completed/);
  });

  it('offers a new payment when the link has expired', async () => {
    const payer = new PayerBrowser();
    const link = await buy(payer);
    const { paymentLinkId, callbackUrl: order } = await newestLink();
    await dev.post(`/payment-links/${paymentLinkId}/expire`, {});
    await waitForHeading(payer, order, 'El plazo para pagar venció');
    const newLink = await payer.submit(await payer.open(order));
    expect(newLink.url).toMatch(/\/checkout\//);
    expect(newLink.url).not.toBe(link.url);
    expect((await payer.open(order)).h1).toBe('Esperando su pago');
  });

  it('rejects an unsigned event with 401', async () => {
    const forged = await fetch(`${shopUrl}/webhooks`, {
      method: 'POST',
      body: '{"event":"paymentlink.completed"}',
    });
    expect(forged.status).toBe(401);
  });
});
