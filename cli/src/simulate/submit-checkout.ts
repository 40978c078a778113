import { Fault } from './errors.ts';

const MOST_STEPS = 8;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

interface Form {
  readonly method: string;
  readonly action: string;
  readonly values: ReadonlyMap<string, string>;
}

interface Page {
  readonly url: string;
  readonly html: string;
}

/**
 * Plays a payer who opens a payment page and goes on to where the money is asked for: a browser without JavaScript, with
 * its cookies, redirects and forms. Chooses what stands first where nothing is chosen.
 */
export async function walkToPayment(address: string, signal: AbortSignal): Promise<void> {
  const cookies = new Map<string, string>();
  let page = await load(address, cookies, signal);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const form = nextForm(page);
    if (!form) return;
    const fields = new URLSearchParams([...form.values]);
    page =
      form.method === 'post'
        ? await load(form.action, cookies, signal, fields)
        : await load(`${form.action}?${fields.toString()}`, cookies, signal);
  }
  throw new Fault('the payment page asks for more than a payer with known data would give');
}

async function load(
  from: string,
  cookies: Map<string, string>,
  signal: AbortSignal,
  fields?: URLSearchParams,
): Promise<Page> {
  let url = from;
  let body = fields;
  for (let hops = 0; hops < MOST_STEPS; hops += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) },
      ...(body ? { body } : {}),
      signal,
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const html = await response.text();
    const next = response.headers.get('location');
    if (response.status >= 400)
      throw new Fault(`the payment page answered ${response.status}: ${headingOf(html)}`);
    if (next === null) return { url, html };
    url = new URL(next, url).href;
    body = undefined;
  }
  throw new Fault('the payment page redirects in a circle');
}

function headingOf(html: string): string {
  return decoded((/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, ' ')).trim();
}

/** The form that leads on: one that begins the payment, or one that asks something before it. */
function nextForm({ html, url }: Page): Form | null {
  for (const [, tag = '', inside = ''] of html.matchAll(/(<form [^>]*>)(.*?)<\/form>/gs)) {
    const method = attribute(tag, 'method') ?? 'get';
    const action = new URL(attribute(tag, 'action') ?? '', url).href;
    if (method === 'post' && !action.endsWith('/begin')) continue;
    return { method, action, values: valuesOf(inside) };
  }
  return null;
}

function valuesOf(markup: string): Map<string, string> {
  const values = new Map<string, string>();
  const inputs = [...markup.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
  for (const tag of inputs) {
    const name = attribute(tag, 'name');
    const choice = /type="(?:radio|checkbox)"/.test(tag);
    const chosen = !choice || /\schecked[\s>]/.test(tag);
    // The first of several, unless a later one is chosen.
    if (name !== null && (chosen || !values.has(name))) values.set(name, attribute(tag, 'value') ?? '');
  }
  for (const [, tag = '', options = ''] of markup.matchAll(/(<select [^>]*>)(.*?)<\/select>/gs)) {
    const option =
      /<option [^>]*\sselected[\s>]/.exec(options)?.[0] ?? /<option [^>]*>/.exec(options)?.[0] ?? '';
    values.set(attribute(tag, 'name') ?? '', attribute(option, 'value') ?? '');
  }
  return values;
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : decoded(value);
}

function decoded(markup: string): string {
  return markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
