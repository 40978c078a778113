import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import { CheckoutDriver, type LinkBody, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { psePayin, without } from '../harness/payin-requests.ts';
import { createPayin } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  // No worker: expired links stay PENDING, and the page must still reject them.
  stack = await startStack({ apis: 2 });
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

const PSE = { method: 'PSE', bank: 'CO_NEQUI', personType: 'INDIVIDUAL' };
const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(1)</script>';

describe('every page', () => {
  it('has headers against caching, framing, referrers and foreign scripts', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const method = await payer.open(link.paymentLinkUrl);
    const wrong = await payer.post(`${link.paymentLinkUrl}/begin`, { ...PSE, name: '' });
    const unknown = await payer.open(`${link.paymentLinkUrl}x`);
    expect([method.status, wrong.status, unknown.status]).toEqual([200, 422, 404]);
    const nonces = new Set<string>();
    for (const { headers, html } of [method, wrong, unknown]) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      const policy = headers.get('content-security-policy') ?? '';
      const nonce = /script-src 'nonce-([\w-]{22})'(?:;|$)/.exec(policy)?.[1] ?? '';
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        `script-src 'nonce-${nonce}'`,
        `style-src 'nonce-${nonce}'`,
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]);
      nonces.add(nonce);
      for (const [tag] of html.matchAll(/<(?:script|style)\b[^>]*>/g))
        expect(tag).toContain(`nonce="${nonce}"`);
      expect(html).not.toMatch(/\son\w+=|\sstyle="|javascript:/);
      for (const [, host] of html.matchAll(/(?:src|href)="https?:\/\/([^/"]*)/g))
        expect(host).toBe('shop.example.com');
    }
    expect(nonces.size, 'a nonce is used once').toBe(3);
  });

  it('shows merchant input as text', async () => {
    const link = await driver.link({
      description: HOSTILE,
      reference: `${HOSTILE}${process.pid}`,
      rail: 'BRE_B',
    });
    const payer = new PayerBrowser();
    const first = await payer.open(link.paymentLinkUrl);
    const key = await payer.submit(first);
    for (const page of [first, key]) {
      expect(page.status).toBe(200);
      expect(page.text).toContain(HOSTILE);
      expect(page.html).not.toContain('<img src=x');
      expect(page.html).not.toContain('<script>');
    }
  });

  it('for an invalid URL is a 404 without details', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const end = link.paymentLinkUrl.endsWith('AAAA') ? 'BBBB' : 'AAAA';
    const wrong = link.paymentLinkUrl.slice(0, -4) + end;
    for (const [path, kind] of [
      ['', 'l'],
      ['', 'p'],
      ['', 'r'],
    ] as const) {
      const page = await payer.open(wrong.replace('/l/', `/${kind}/`) + path);
      expect([page.status, page.h1]).toEqual([404, 'No encontramos este link de pago']);
      expect(page.html).not.toContain('Tienda Aurora');
      expect(page.text).toContain('pegue aquí el link completo');
    }
    for (const path of ['/begin', '/change'])
      expect((await payer.post(wrong + path, { ...PAYER_DETAILS, method: 'BRE_B' })).status).toBe(404);
    expect((await payer.post(`${wrong.replace('/l/', '/p/')}/payer`, PAYER_DETAILS)).status).toBe(404);
  });

  it('is compressed for browsers that accept it, and caches must not mix the two', async () => {
    const link = await driver.link();
    const bodyOf = async (encoding: string) => {
      const response = await fetch(link.paymentLinkUrl, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('vary')).toBe('accept-encoding');
      return { encoding: response.headers.get('content-encoding'), text: await response.text() };
    };
    for (const accepted of ['gzip, deflate, br', 'br;q=0.5, gzip;q=1.0', 'deflate, GZIP'])
      expect((await bodyOf(accepted)).encoding).toBe('gzip');
    for (const rejected of ['identity', 'gzip;q=0', 'gzip; q=0.0, br'])
      expect((await bodyOf(rejected)).encoding).toBeNull();
    expect((await bodyOf('gzip')).text).toContain('¿Cómo quiere pagar?');
  });

  it('does not repeat text from its query, which somebody else may have chosen', async () => {
    const link = await driver.link();
    const query = 'm=guess-1&method=guess-2&bank=guess-3&personType=guess-4&again=guess-5&lang=guess-6';
    const page = await new PayerBrowser().open(`${link.paymentLinkUrl}?${query}`);
    expect(page.status).toBe(200);
    expect(page.html).not.toContain('guess');
    const chosen = await new PayerBrowser().open(`${link.paymentLinkUrl}?m=BRE_B&again=1`);
    expect(chosen.linkTo('English')).toMatch(/\?m=BRE_B&again=1&lang=en$/);
  });

  it('returns only the changing part to its own script', async () => {
    const link = await driver.link();
    const part = await new PayerBrowser().open(link.paymentLinkUrl, { 'x-part': 'main' });
    expect(part.html).toMatch(/^<!doctype html><title>.*<main id="main".*<\/main><\/body>$/s);
    expect(part.html).not.toMatch(/<script|<link|<style/);
  });
});

describe('a cross-origin form', () => {
  it.each(['cross-site', 'same-site'])('%s starts nothing', async (site) => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const headers = { 'sec-fetch-site': site };
    const begin = await payer.post(
      `${link.paymentLinkUrl}/begin`,
      { ...PAYER_DETAILS, method: 'BRE_B' },
      headers,
    );
    expect(begin.h1).toBe('¿Cómo quiere pagar?');
    expect(await driver.attempts(link)).toEqual([]);
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    const details = await payer.post(`${payin.sourceData.pseUrl}/payer`, PAYER_DETAILS, headers);
    expect(details.h1).toBe('Sus datos');
  });

  it('ends nothing either; a same-origin form does', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const own = { 'sec-fetch-site': 'same-origin' };
    const { brebKey: key } = await payer.post(
      `${link.paymentLinkUrl}/begin`,
      { ...PAYER_DETAILS, method: 'BRE_B' },
      own,
    );
    const foreign = await payer.post(`${link.paymentLinkUrl}/change`, {}, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.brebKey).toBe(key);
    expect((await payer.post(`${link.paymentLinkUrl}/change`, {}, own)).h1).toBe('Elija su banco');
  });

  it('does not get the cookie, which is SameSite and HttpOnly', async () => {
    const link = await driver.link();
    const response = await fetch(`${link.paymentLinkUrl}/begin`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ ...PAYER_DETAILS, method: 'BRE_B' }),
    });
    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^attempt_\w{12}=[\w-]{36}\.[\w-]{22}; Path=\/checkout\/; Max-Age=86400; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });
});

describe('an invalid form request', () => {
  it.each<[string, Record<string, string>, string, number]>([
    ['another content type', { 'content-type': 'text/plain' }, 'x', 415],
    [
      'a form of a hundred kilobytes',
      { 'content-type': 'application/x-www-form-urlencoded' },
      `name=${'x'.repeat(100_000)}`,
      413,
    ],
    ['broken JSON', { 'content-type': 'application/json' }, '{', 400],
  ])('%s is rejected, and the page says that it started no payment', async (_what, headers, body, status) => {
    const link = await driver.link();
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    for (const [page, form] of [
      [link.paymentLinkUrl, 'begin'],
      [payin.sourceData.pseUrl ?? '', 'payer'],
    ] as const) {
      const response = await fetch(`${page}/${form}`, { method: 'POST', headers, body });
      const html = await response.text();
      expect(response.status).toBe(status);
      expect(html).toContain('Esta vez no iniciamos ningún pago.');
      expect(html).not.toContain('No se movió dinero');
      // The back link leads to the page, not to the form target.
      expect(html).toContain(`href="${new URL(page).pathname}"`);
    }
  });
});

describe('a link past its expiry that is still PENDING', () => {
  it.each<[string, (link: LinkBody) => Promise<unknown>]>([
    ['closed by the merchant', (link) => driver.close(link)],
    ['an hour old', () => stack.shiftTime(3_600_000)],
  ])('%s, starts nothing', async (_how, end) => {
    const link = await driver.link({ rail: 'BRE_B' });
    const payer = new PayerBrowser();
    const page = await payer.open(link.paymentLinkUrl);
    await end(link);
    expect((await payer.submit(page, PAYER_DETAILS)).h1).toBe('Este link de pago venció');
    expect((await driver.get(link)).status).toBe('PENDING');
    expect(await driver.attempts(link)).toEqual([]);
  });
});

describe('a payer', () => {
  it('behind one address with a hundred others is not rejected', async () => {
    const links = await Promise.all(Array.from({ length: 100 }, () => driver.link()));
    const pages = await Promise.all(
      links.map(async ({ paymentLinkUrl }) => {
        const payer = new PayerBrowser();
        // Every payer makes a mistake first, then corrects it.
        const wrong = await payer.post(`${paymentLinkUrl}/begin`, {
          ...PSE,
          ...PAYER_DETAILS,
          email: 'nada',
        });
        const right = await payer.post(`${paymentLinkUrl}/begin`, { method: 'BRE_B' });
        return [wrong.status, right.status, right.brebKey.length];
      }),
    );
    expect(pages).toEqual(Array.from({ length: 100 }, () => [422, 200, 20]));
  });

  it('who sends too many forms for one payment can retry later with everything typed', async () => {
    const payer = new PayerBrowser();
    const { paymentLinkUrl: url } = await driver.link();
    const typed = { ...PSE, ...PAYER_DETAILS, email: 'nada' };
    const elapsed = stopwatch();
    for (let attempt = 0; attempt < 20; attempt += 1)
      expect((await payer.post(`${url}/begin`, typed)).status).toBe(422);
    const busy = await payer.post(`${url}/begin`, typed);
    expect([busy.status, busy.h1, busy.text.includes('$ 49.800')]).toEqual([
      429,
      'Demasiados intentos',
      true,
    ]);
    const seconds = Number(busy.headers.get('retry-after'));
    // The window of ten minutes started with the first form.
    expect(seconds).toBeGreaterThanOrEqual(600 - elapsed() / 1000);
    expect(seconds).toBeLessThanOrEqual(600);
    expect(busy.form).toEqual({ method: 'post', action: `${url}/begin`, values: typed });
    expect(busy.html).toContain(`data-retry="${seconds}"`);
    expect((await payer.open(url)).status).toBe(200);
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    const own = payin.sourceData.pseUrl ?? '';
    for (let attempt = 0; attempt < 20; attempt += 1)
      expect((await payer.post(`${own}/payer`, { email: 'nada' })).status).toBe(422);
    expect((await payer.post(`${own}/payer`, { ...PAYER_DETAILS })).status).toBe(429);
  });
});

describe('an abusive client', () => {
  it('that opens unknown URLs or sends invalid forms gets 429, and others at its address can pay', async () => {
    const at = stack.apis[1]?.url ?? '';
    const payer = new PayerBrowser();
    const statuses = async (count: number, send: () => Promise<{ readonly status: number }>) => {
      const pages = await Promise.all(Array.from({ length: count }, send));
      return [404, 422, 429].map((status) => pages.filter((page) => page.status === status).length);
    };
    expect(await statuses(310, () => payer.open(`${at}/checkout/l/${'A'.repeat(50)}`))).toEqual([300, 0, 10]);
    const urls = await Promise.all(
      Array.from({ length: 31 }, async () => at + new URL((await driver.link()).paymentLinkUrl).pathname),
    );
    let sent = 0;
    expect(await statuses(310, () => payer.post(`${urls[sent++ % 31]}/begin`, { ...PSE, name: '' }))).toEqual(
      [0, 300, 10],
    );
    const [url = ''] = urls;
    expect((await new PayerBrowser().post(`${url}/begin`, { method: 'BRE_B' })).brebKey).toHaveLength(20);
  });
});

describe('a cut or unknown URL', () => {
  it.each(['', '/', '/l', '/l/', '/nada', '/l/corto', '/p', '/r/x/y'])(
    '/checkout%s is a page with a way on',
    async (path) => {
      const link = await driver.link();
      const payer = new PayerBrowser();
      const base = new URL('/checkout', link.paymentLinkUrl).href;
      const page = await payer.open(base + path);
      expect([page.status, page.h1]).toEqual([404, 'No encontramos este link de pago']);
      expect((await new PayerBrowser({ 'accept-language': 'en' }).open(base + path)).h1).toBe(
        'We cannot find this payment link',
      );
      const pasted = `Pague aquí: ${link.paymentLinkUrl} gracias`;
      expect((await payer.submit(page, { link: pasted })).h1).toBe('¿Cómo quiere pagar?');
      expect((await payer.submit(page, { link: 'https://example.com/' })).status).toBe(404);
    },
  );
});

describe('the language', () => {
  it.each([
    [undefined, 'es-CO', '¿Cómo quiere pagar?'],
    ['*', 'es-CO', '¿Cómo quiere pagar?'],
    ['es-CO,es;q=0.9,en;q=0.8', 'es-CO', '¿Cómo quiere pagar?'],
    ['en-US,en;q=0.9', 'en', 'How do you want to pay?'],
    ['es;q=0.3,en;q=0.7', 'en', 'How do you want to pay?'],
    ['pt-BR,pt;q=0.9', 'es-CO', '¿Cómo quiere pagar?'],
    ['fr-FR,en;q=0.5', 'en', 'How do you want to pay?'],
  ])('of "%s" is %s', async (header, language, h1) => {
    const link = await driver.link();
    const page = await new PayerBrowser(header === undefined ? {} : { 'accept-language': header }).open(
      link.paymentLinkUrl,
    );
    expect([page.language, page.h1]).toEqual([language, h1]);
  });

  it('is the one the payer switched to', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser({ 'accept-language': 'es-CO' });
    const spanish = await payer.open(`${link.paymentLinkUrl}?m=PSE`);
    expect(spanish.h1).toBe('Elija su banco');
    const english = await payer.post(`${link.paymentLinkUrl}/language?step=bank`, {
      ...spanish.form.values,
      bank: 'CO_NEQUI',
      lang: 'en',
    });
    expect([english.language, english.h1]).toEqual(['en', 'Choose your bank']);
    expect(english.form.values['bank']).toBe('CO_NEQUI');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('How do you want to pay?');
    expect((await payer.click(await payer.open(link.paymentLinkUrl), 'Español')).h1).toBe(
      '¿Cómo quiere pagar?',
    );
    expect((await new PayerBrowser().open(link.paymentLinkUrl)).language).toBe('es-CO');
  });
});

describe('a form with an Origin and without Sec-Fetch-Site', () => {
  const begin = async (origin: string) => {
    const link = await driver.link();
    await new PayerBrowser().post(`${link.paymentLinkUrl}/begin`, { method: 'BRE_B' }, { origin });
    return (await driver.attempts(link)).length;
  };

  it('of another site starts nothing', async () => {
    expect(await begin('https://evil.example')).toBe(0);
    expect(await begin('not a URL')).toBe(0);
  });

  it('of our own page starts an attempt, also with the null that browsers send from pages without referrer', async () => {
    expect(await begin(new URL(stack.apis[0]?.url ?? '').origin)).toBe(1);
    expect(await begin('null')).toBe(1);
  });
});
