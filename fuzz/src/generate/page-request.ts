import { choose } from '../tenants/ring.ts';
import type { Context } from './context.ts';
import { printable } from './credentials.ts';
import { hostileText } from './hostile.ts';
import { commonHeaders } from './operation-request.ts';
import type { FuzzRequest } from './request.ts';
import { encode, spell } from './spelling.ts';

/** Pages of payers: links, payins, receipts, their forms and images. The page's token decides whose data it shows. */
export function pageRequest(context: Context): FuzzRequest {
  const { random, tenant, index } = context;
  const page = tenant.pages.pick(random);
  if (page === null || random.chance(0.1)) return strayPage(context);
  const kind = page.slice(1, 2);
  const posts =
    kind === 'l' ? ['/begin', '/change', '/language'] : kind === 'p' ? ['/payer', '/language'] : ['/email'];
  const reads = kind === 'r' ? ['', '.pdf'] : ['', '', '', '/qr.png', '/live?once=1', '/live'];
  const isPost = random.chance(0.45);
  const suffix = choose(random, isPost ? posts : reads) ?? '';
  const query = random.chance(0.3) && !suffix.includes('?') ? pageQuery(context) : '';
  return {
    index,
    subject: 'checkout pages',
    method: isPost ? 'POST' : 'GET',
    target: `/checkout${page}${suffix}${query}`,
    headers: [
      ['host', 'caudal.test'],
      ...commonHeaders(context),
      ...pageHeaders(context),
      ...(isPost ? ([['content-type', random.chance(0.95) ? FORM : 'text/plain']] as const) : []),
    ],
    body: isPost ? payerForm(context) : null,
    tenant: tenant.name,
  };
}

const FORM = 'application/x-www-form-urlencoded';

function pageHeaders({ random, tenant, other }: Context): [string, string][] {
  const headers: [string, string][] = [];
  const cookie = (random.chance(0.7) ? tenant : other).cookies.pick(random);
  if (cookie !== null && random.chance(0.6))
    headers.push([
      'cookie',
      random.chance(0.85) ? cookie : `${cookie}x; lang=${printable(hostileText(random)).slice(0, 300)}`,
    ]);
  if (random.chance(0.2))
    headers.push(['sec-fetch-site', random.pick(['cross-site', 'same-origin', 'none', 'x'])]);
  if (random.chance(0.3))
    headers.push(['accept-encoding', random.pick(['gzip', 'br', 'gzip, br, zstd', 'identity'])]);
  return headers;
}

function pageQuery({ random }: Context): string {
  const name = random.pick([
    'm',
    'go',
    'again',
    'lang',
    'bank',
    'sent',
    'personType',
    'stamp',
    'link',
    '__proto__',
  ]);
  return `?${name}=${random.pick(['PSE', 'BRE_B', '1', 'en', encode(hostileText(random)).slice(0, 500)])}`;
}

function payerForm(context: Context): Buffer {
  const { random, tenant, index } = context;
  const form = new URLSearchParams({
    method: random.pick(['BRE_B', 'PSE', 'PSE']),
    m: random.pick(['BRE_B', 'PSE']),
    bank: 'CO_BANCOLOMBIA',
    personType: random.pick(['INDIVIDUAL', 'BUSINESS']),
    name: `${tenant.word} Rojas`,
    idType: random.pick(['CO_CC', 'CO_CE', 'CO_NIT', 'PASSPORT']),
    idNumber: tenant.document(random, index),
    phone: tenant.phone(index),
    email: `${tenant.word}.${index}@example.com`,
    authorize: 'yes',
  });
  for (let count = random.chance(0.5) ? random.integer(1, 3) : 0; count > 0; count -= 1) {
    const name = choose(random, [...form.keys()]) ?? 'x';
    if (random.chance(0.3)) form.delete(name);
    else form.set(name, hostileText(random));
  }
  if (random.chance(0.03)) form.set('name', 'x'.repeat(random.integer(1000, 70_000)));
  return Buffer.from(form.toString());
}

const PUBLIC_PATHS = [
  '/openapi.json',
  '/docs',
  '/docs/errors/not_found',
  '/llms.txt',
  '/favicon.ico',
  '/verify',
  '/verify/worker.js',
  '/.well-known/caudal-receipt-keys.json',
  '/checkout',
  '/',
  '/metrics',
  '/health',
  '/checkout/logo/x.png',
] as const;

/** Pages without a token, changed tokens, and the receipt check. */
function strayPage(context: Context): FuzzRequest {
  const { random, tenant, index } = context;
  const page = tenant.pages.pick(random);
  const code = tenant.receiptCodes.pick(random) ?? '7K3M-9QXA-22TF';
  const choice = random.integer(0, 6);
  const isCode = choice === 2 || choice === 3;
  const target = [
    `/checkout/l/${spell(random, page?.slice(3) ?? hostileText(random))}`,
    `/checkout/${encode(hostileText(random)).slice(0, 2000)}`,
    `/verificar?c=${random.chance(0.6) ? code : encode(hostileText(random))}`,
    `/verify/receipts/${random.chance(0.6) ? code : spell(random, code)}`,
    random.pick(PUBLIC_PATHS),
    `${random.pick(PUBLIC_PATHS)}/${encode(hostileText(random)).slice(0, 500)}`,
    `/checkout?link=${encode(page === null ? hostileText(random) : `https://x.example/checkout${page}`)}`,
  ][choice];
  return {
    index,
    subject: isCode ? 'receipt check' : 'other pages',
    method: random.chance(0.9) ? 'GET' : random.pick(['HEAD', 'POST', 'OPTIONS', 'PUT']),
    target: target ?? '/',
    headers: [['host', 'caudal.test'], ...commonHeaders(context), ...pageHeaders(context)],
    body: null,
    tenant: tenant.name,
  };
}
