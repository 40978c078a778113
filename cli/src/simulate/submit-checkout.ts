import { CliError } from '../framework/errors.ts';

const MAX_STEPS = 8;

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
 * Acts as a payer who opens a payment link and submits its forms until the payment has started: a browser without
 * JavaScript, with cookies, redirects and forms. Takes the first choice where none is preselected.
 */
export async function submitCheckout(address: string, signal: AbortSignal): Promise<void> {
  const cookies = new Map<string, string>();
  let page = await load(address, cookies, signal);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const form = nextForm(page);
    if (!form) return;
    const fields = new URLSearchParams([...form.values]);
    page =
      form.method === 'post'
        ? await load(form.action, cookies, signal, fields)
        : await load(`${form.action}?${fields.toString()}`, cookies, signal);
  }
  throw new CliError('the payment page still shows a form after the maximum number of steps');
}

async function load(
  from: string,
  cookies: Map<string, string>,
  signal: AbortSignal,
  fields?: URLSearchParams,
): Promise<Page> {
  let url = from;
  let body = fields;
  for (let hops = 0; hops < MAX_STEPS; hops += 1) {
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
      throw new CliError(`the payment page returned ${response.status}: ${readHeading(html)}`);
    if (next === null) return { url, html };
    url = new URL(next, url).href;
    body = undefined;
  }
  throw new CliError('the payment page redirects in a loop');
}

function readHeading(html: string): string {
  return decodeEntities((/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, ' ')).trim();
}

/** The next form: the one that starts the payment, or one that asks for data before it. */
function nextForm({ html, url }: Page): Form | null {
  for (const [, tag = '', inside = ''] of html.matchAll(/(<form [^>]*>)(.*?)<\/form>/gs)) {
    const method = readAttribute(tag, 'method') ?? 'get';
    const action = new URL(readAttribute(tag, 'action') ?? '', url).href;
    if (method === 'post' && !action.endsWith('/begin')) continue;
    return { method, action, values: readFormValues(inside) };
  }
  return null;
}

function readFormValues(markup: string): Map<string, string> {
  const values = new Map<string, string>();
  const inputs = [...markup.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
  for (const tag of inputs) {
    const name = readAttribute(tag, 'name');
    const choice = /type="(?:radio|checkbox)"/.test(tag);
    const chosen = !choice || /\schecked[\s>]/.test(tag);
    // The first choice, unless a later one is checked.
    if (name !== null && (chosen || !values.has(name))) values.set(name, readAttribute(tag, 'value') ?? '');
  }
  for (const [, tag = '', options = ''] of markup.matchAll(/(<select [^>]*>)(.*?)<\/select>/gs)) {
    const option =
      /<option [^>]*\sselected[\s>]/.exec(options)?.[0] ?? /<option [^>]*>/.exec(options)?.[0] ?? '';
    values.set(readAttribute(tag, 'name') ?? '', readAttribute(option, 'value') ?? '');
  }
  return values;
}

function readAttribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : decodeEntities(value);
}

function decodeEntities(markup: string): string {
  return markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
