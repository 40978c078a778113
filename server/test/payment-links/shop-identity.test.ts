import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { readPseReference } from '../harness/pse-reference.ts';
import { ShopDriver } from '../harness/shop-driver.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const LEGAL = ['--legal-name', 'Aurora S.A.S.', '--tax-id', '900.123.456-8'] as const;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    settings: {
      CAUDAL_OPERATOR_NAME: 'Pagos del Valle',
      CAUDAL_OPERATOR_LEGAL_NAME: 'Pagos del Valle S.A.',
      CAUDAL_OPERATOR_TAX_ID: '890903938-8',
      CAUDAL_OPERATOR_TERMS_URL: 'https://pagos.example/terminos',
      CAUDAL_OPERATOR_PRIVACY_URL: 'https://pagos.example/privacidad',
      CAUDAL_OPERATOR_SUPPORT: 'ayuda@pagos.example',
    },
  });
});
afterAll(() => stack?.stop());

describe('legal identity', () => {
  it('of the shop is on every page of a link, in both languages', async () => {
    const shop = await ShopDriver.create(stack, ...LEGAL);
    const link = await shop.link();
    const payer = new PayerBrowser();
    const legal = 'Aurora S.A.S. · NIT 900.123.456-8';
    for (const query of ['', '?m=PSE', '?m=BRE_B'])
      expect((await payer.open(link.paymentLinkUrl + query)).text).toContain(`Cobra: ${legal}`);
    await shop.api.post(`/payment-links/${link.paymentLinkId}/expire`, {});
    expect((await payer.open(link.paymentLinkUrl)).text).toContain(`Cobra: ${legal}`);
    expect((await payer.open(`${link.paymentLinkUrl}?lang=en`)).text).toContain(`Charged by: ${legal}`);
  });

  it('of the shop is omitted when it is not recorded', async () => {
    expect((await (await ShopDriver.create(stack)).page()).text).not.toContain('Cobra:');
  });

  it('of the operator is in the footer of every page, with terms and privacy policy', async () => {
    const pages = [
      await (await ShopDriver.create(stack)).page(),
      await new PayerBrowser().open(`${stack.settings['CAUDAL_CHECKOUT_URL']}/l/unknown`),
    ];
    for (const page of pages) {
      expect(page.text).toContain('Opera esta página: Pagos del Valle S.A. · NIT 890.903.938-8');
      expect(page.linkTo('Términos')).toBe('https://pagos.example/terminos');
      expect(page.linkTo('Privacidad')).toBe('https://pagos.example/privacidad');
    }
  });
});

describe('org update', () => {
  it('records legal name and NIT, and marks them as verified until one of them changes', async () => {
    const shop = await ShopDriver.create(stack);
    expect(await shop.show()).toMatchObject({ legalName: null, taxId: null, verifiedAt: null });
    await shop.update(...LEGAL, '--verified', 'yes');
    const verified = await shop.show();
    expect(verified).toMatchObject({ legalName: 'Aurora S.A.S.', taxId: '900123456-8' });
    expect(verified['verifiedAt']).not.toBeNull();
    await shop.update('--accent', '#1d4ed8', '--legal-name', 'Aurora S.A.S.');
    expect((await shop.show())['verifiedAt']).toBe(verified['verifiedAt']);
    await shop.update('--name', 'Bancolombia');
    expect((await shop.show())['verifiedAt']).toBeNull();
  });

  it('rejects a NIT with a wrong check digit, and the verification of an identity that is not recorded', async () => {
    const shop = await ShopDriver.create(stack);
    await expect(shop.update('--tax-id', '900123456-7')).rejects.toThrow('check digit');
    await shop.update('--tax-id', '900123456-8');
    await expect(shop.update('--verified', 'yes')).rejects.toThrow('legal name and NIT');
  });
});

describe('support contact', () => {
  it('is linked by kind in the same place of every page of a link', async () => {
    const shop = await ShopDriver.create(stack, '--support', 'ayuda@aurora.example, 300 123 4567');
    const { paymentLinkId, paymentLinkUrl } = await shop.link({ reference: 'pedido-7' });
    const payer = new PayerBrowser();
    const check = async (query: string, title: string) => {
      const page = await payer.open(paymentLinkUrl + query);
      expect(page.h1).toBe(title);
      expect(page.html).toMatch(
        /<\/details><p class="help"><span>Ayuda de Tienda Aurora:.*<\/p><\/section>\n<p id="announcer"/,
      );
      expect(page.linkTo('Escriba a ayuda@aurora.example')).toBe(
        'mailto:ayuda@aurora.example?subject=Pago%20pedido-7',
      );
      expect(page.linkTo('Llame al 300 123 4567')).toBe('tel:+573001234567');
      expect(page.linkTo('Escriba por WhatsApp')).toBe('https://wa.me/573001234567?text=Pago%20pedido-7');
    };
    await check('', '¿Cómo quiere pagar?');
    await check('?m=PSE', 'Elija su banco');
    await check('?m=BRE_B', 'Pague con Bre-B');
    await shop.api.post(`/payment-links/${paymentLinkId}/expire`, {});
    await check('', 'Este link de pago venció');
  });

  it('of the operator is on a page without a shop', async () => {
    const page = await new PayerBrowser().open(`${stack.settings['CAUDAL_CHECKOUT_URL']}/l/unknown`);
    expect(page.linkTo('Escriba a ayuda@pagos.example')).toBe('mailto:ayuda@pagos.example');
    expect(page.text).toContain('Ayuda de Pagos del Valle:');
  });
});

describe('link preview in chats', () => {
  const meta = (html: string, name: string) =>
    new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(html)?.[1] ?? null;

  it('names the shop, the amount and what is paid for, and starts no attempt', async () => {
    const shop = await ShopDriver.create(stack, '--name', 'Café "La Ñapa" & Cía');
    const link = await shop.link({ description: 'Pedido 7' });
    const response = await fetch(link.paymentLinkUrl, {
      headers: { 'user-agent': 'WhatsApp/2.23.20.0', 'accept-language': 'es' },
    });
    const html = await response.text();
    expect(meta(html, 'og:title')).toBe('Pago a Café &quot;La Ñapa&quot; &amp; Cía');
    expect(meta(html, 'og:description')).toBe('$\u00a049.800 · Pedido 7');
    expect(meta(html, 'og:site_name')).toBe('Pagos del Valle');
    expect(meta(html, 'twitter:card')).toBe('summary');
    expect(meta(html, 'og:image')).toBeNull();
    expect(meta(html, 'robots')).toBe('noindex');
    const { body } = await shop.api.get<{ data: unknown[] }>(`/payins?paymentLinkId=${link.paymentLinkId}`);
    expect(body.data).toEqual([]);
  });

  it('shows the reference when the link has no description', async () => {
    const page = await (await ShopDriver.create(stack)).page({ reference: 'pedido-9' });
    expect(meta(page.html, 'og:description')).toBe('$\u00a049.800 · pedido-9');
  });

  it('is omitted for a page without a shop and for a suspended shop', async () => {
    const unknown = await new PayerBrowser().open(`${stack.settings['CAUDAL_CHECKOUT_URL']}/l/unknown`);
    const shop = await ShopDriver.create(stack);
    const link = await shop.link();
    await shop.suspend();
    const suspended = await new PayerBrowser().open(link.paymentLinkUrl);
    for (const { html } of [unknown, suspended]) expect(html).not.toContain('og:');
  });
});

describe('suspended shop', () => {
  it('has a page that offers no way to pay or to return to the shop, and says what to do after paying', async () => {
    const shop = await ShopDriver.create(stack);
    const link = await shop.link();
    await shop.suspend();
    const page = await new PayerBrowser().open(link.paymentLinkUrl);
    expect(page.h1).toBe('Este comercio no puede recibir pagos');
    expect(page.text).toContain('Aquí no se puede pagar nada.');
    expect(page.text).toContain('no pague otra vez');
    expect(page.text).toContain(
      'No las use: si paga, el dinero le llega a Tienda Aurora aunque esté suspendido.',
    );
    expect(page.text).not.toMatch(/vuelva a intentar|en unos minutos|ningún cobro/i);
    const inside = new URL(link.paymentLinkUrl).host;
    const outside = page.links.filter(({ href }) => new URL(href).host !== inside).map(({ href }) => href);
    expect(outside).toEqual([
      expect.stringContaining('mailto:ayuda@pagos.example'),
      'https://pagos.example/terminos',
      'https://pagos.example/privacidad',
    ]);
  });

  it('warns a payer who already has a key not to pay it', async () => {
    const shop = await ShopDriver.create(stack);
    const link = await shop.link({ rail: 'BRE_B', inlineCustomer: CUSTOMER });
    const payer = new PayerBrowser();
    const start = await payer.open(link.paymentLinkUrl);
    const before = await payer.submit(start, {});
    expect(before.brebKey).toMatch(/^@/);
    expect(before.text).not.toContain('Suspendimos');
    await shop.suspend();
    await until('the page warns', async () =>
      (await payer.open(link.paymentLinkUrl)).text.includes('Si no ha pagado, no pague.'),
    );
  });
});

describe('"¿Es real este cobro?"', () => {
  /** The labels and values of the disclosure. */
  const facts = (html: string) => {
    const inside = /<details class="authenticity">(.*?)<\/details>/s.exec(html)?.[1] ?? '';
    const text = (markup: string) => markup.replaceAll(/<[^>]*>/g, '|').replaceAll(/\|+$|^\|+/g, '');
    return Object.fromEntries(
      [...inside.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, label = '', value = '']) => [
        label,
        text(value),
      ]),
    );
  };

  it('shows what the operator recorded, the host, and the code that the API returns', async () => {
    const shop = await ShopDriver.create(stack, ...LEGAL);
    const link = await shop.link();
    const page = await new PayerBrowser().open(link.paymentLinkUrl);
    const { body } = await shop.api.get<{ verificationCode: string }>(`/payment-links/${link.paymentLinkId}`);
    expect(body.verificationCode).toMatch(/^\d{4}$/);
    expect(facts(page.html)).toEqual({
      Cobra:
        'Aurora S.A.S. · NIT 900.123.456-8|Datos registrados por Pagos del Valle, sin verificar con documentos',
      'Recibe pagos aquí desde': expect.stringMatching(/^\d+ de \p{L}+ de \d{4}$/u),
      'Pagos recibidos en 90 días': 'Diez o menos',
      'Cobro creado': expect.stringMatching(/\d{4}/),
      Dirección: expect.stringMatching(`^${new URL(link.paymentLinkUrl).host}\\|`),
      Código: expect.stringMatching(`^${body.verificationCode}\\|`),
    });
  });

  it('says "verificados" only after the operator said so', async () => {
    const shop = await ShopDriver.create(stack, ...LEGAL);
    await shop.update('--verified', 'yes');
    expect(facts((await shop.page()).html)['Cobra']).toContain('verificados por Pagos del Valle');
    const unrecorded = await ShopDriver.create(stack);
    expect(facts((await unrecorded.page()).html)['Cobra']).toBe(
      'Tienda Aurora|Pagos del Valle no tiene registrada su razón social',
    );
  });

  it('states how many payments were completed in whole classes', async () => {
    const shop = await ShopDriver.create(stack);
    await stack.database.query(
      `insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, created_at, updated_at,
         expires_at, breb_key, breb_key_type, result_at, confirmed_amount_in_cents)
       select $1, overlay(gen_random_uuid()::text placing $2 from 1 for 13)::uuid, 100, 'COP', 'BRE_B', 'CONFIRMED', 'r' || n,
         caudal.now(), caudal.now(), caudal.now(), '@K' || n, 'SINGLE_USE', caudal.now(), 100
       from generate_series(1, 150) as n`,
      [shop.id, (await shop.link()).paymentLinkId.slice(0, 13)],
    );
    expect(facts((await shop.page()).html)['Pagos recibidos en 90 días']).toBe('Más de 100');
  });
});

describe('page of the bank', () => {
  it.each([
    ['the description', 'Café para dos', 'Cafe Luna: Cafe para dos'],
    ['the reference without a description', null, /^Cafe Luna: [\w-]+$/],
  ])('shows the name of the shop and %s of a link', async (_what, description, expected) => {
    const shop = await ShopDriver.create(stack, '--name', 'Café Luna');
    const link = await shop.link({
      rail: 'PSE',
      pse: { bank: 'CO_NEQUI' },
      inlineCustomer: CUSTOMER,
      description,
    });
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(link.paymentLinkUrl), {});
    const { body } = await shop.api.get<{ data: { id: string }[] }>(
      `/payins?paymentLinkId=${link.paymentLinkId}`,
    );
    const reference = await readPseReference(stack.database, body.data[0]?.id ?? '');
    const transaction = await new SimulatorControl(stack.simulatorUrl).transaction(reference);
    expect(transaction?.description).toMatch(expected);
    const page = await (await fetch(transaction?.bankUrl ?? '')).text();
    expect(page).toContain(transaction?.description);
  });
});
