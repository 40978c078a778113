const MAX_REDIRECTS = 5;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function decodeEntities(markup: string): string {
  return markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : decodeEntities(value);
}

function toText(markup: string): string {
  return decodeEntities(markup.replaceAll(/<script.*?<\/script>|<[^>]*>/gs, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

export interface PageForm {
  readonly method: 'get' | 'post';
  readonly action: string;
  /** Form values a browser sends when the payer changes nothing. */
  readonly values: Readonly<Record<string, string>>;
}

/** A fetched page as a browser without JavaScript sees it. */
export class PayerPage {
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  readonly html: string;

  constructor(status: number, url: string, headers: Headers, html: string) {
    this.status = status;
    this.url = url;
    this.headers = headers;
    this.html = html;
  }

  get h1(): string {
    return toText(/<h1>(.*?)<\/h1>/s.exec(this.html)?.[1] ?? '');
  }

  get text(): string {
    return toText(/<body.*<\/body>/s.exec(this.html)?.[0] ?? this.html);
  }

  get language(): string | null {
    return attribute(/<html[^>]*>/.exec(this.html)?.[0] ?? '', 'lang');
  }

  /** Whether a browser without JavaScript reloads the page automatically. */
  get autoRefreshes(): boolean {
    return /<noscript><meta http-equiv="refresh"/.test(this.html);
  }

  get links(): { readonly text: string; readonly href: string }[] {
    return [...this.html.matchAll(/(<a [^>]*>)(.*?)<\/a>/gs)].map(([, tag = '', inside = '']) => ({
      text: toText(inside),
      href: new URL(attribute(tag, 'href') ?? '', this.url).href,
    }));
  }

  linkTo(text: string): string {
    const link = this.links.find((each) => each.text.includes(text));
    if (!link) throw new Error(`"${this.h1}" has no link "${text}"`);
    return link.href;
  }

  get form(): PageForm {
    const [, tag = '', inside = ''] = /(<form [^>]*>)(.*?)<\/form>/s.exec(this.html) ?? [];
    if (tag === '') throw new Error(`"${this.h1}" (${this.status}) has no form`);
    return {
      method: attribute(tag, 'method') === 'post' ? 'post' : 'get',
      action: new URL(attribute(tag, 'action') ?? '', this.url).href,
      values: Object.fromEntries([...inputValues(inside), ...selectValues(inside)]),
    };
  }

  /** Values of a radio group, in page order. */
  radioValues(name: string): string[] {
    return [...this.html.matchAll(/<input [^>]*type="radio"[^>]*>/g)]
      .filter(([tag]) => attribute(tag, 'name') === name)
      .map(([tag]) => attribute(tag, 'value') ?? '');
  }

  /** The validation error shown next to a field. */
  fieldError(name: string): string | null {
    const error = new RegExp(`<span class="error" id="${name}-wrong">(.*?)</span>`, 's').exec(this.html)?.[1];
    return error === undefined ? null : toText(error);
  }

  /** The Bre-B key shown on the payment screen. */
  get brebKey(): string {
    const brebKey = /data-key="([^"]*)"/.exec(this.html)?.[1];
    if (brebKey === undefined) throw new Error(`"${this.h1}" (${this.status}) shows no key`);
    return decodeEntities(brebKey);
  }
}

function inputValues(markup: string): [string, string][] {
  return [...markup.matchAll(/<input [^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const name = attribute(tag, 'name');
    const chosen = !/type="(?:radio|checkbox)"/.test(tag) || /\schecked[\s>]/.test(tag);
    return name !== null && chosen ? [[name, attribute(tag, 'value') ?? '']] : [];
  });
}

function selectValues(markup: string): [string, string][] {
  return [...markup.matchAll(/(<select [^>]*>)(.*?)<\/select>/gs)].map(([, tag = '', options = '']) => {
    const chosen = /<option [^>]*\sselected>/.exec(options)?.[0] ?? /<option [^>]*>/.exec(options)?.[0] ?? '';
    return [attribute(tag, 'name') ?? '', attribute(chosen, 'value') ?? ''];
  });
}

/** A payer's browser without JavaScript: cookies, redirects, links and forms, over real HTTP. */
export class PayerBrowser {
  readonly cookies = new Map<string, string>();
  /** URLs of the last navigation, redirects included. */
  visitedUrls: string[] = [];
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<PayerPage> {
    return this.#navigate(url, { headers });
  }

  click(page: PayerPage, text: string): Promise<PayerPage> {
    return this.open(page.linkTo(text));
  }

  /** Submits the page's form with the payer's changes. */
  submit(
    page: PayerPage,
    changes: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PayerPage> {
    const { method, action, values } = page.form;
    const sent = { ...values, ...changes };
    if (method === 'post') return this.post(action, sent, headers);
    const url = new URL(action);
    url.search = new URLSearchParams(sent).toString();
    return this.#navigate(url.href, { headers });
  }

  post(
    url: string,
    values: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PayerPage> {
    return this.#navigate(url, { method: 'POST', headers, body: new URLSearchParams(values) });
  }

  async #navigate(
    from: string,
    first: { method?: string; headers: Readonly<Record<string, string>>; body?: URLSearchParams },
  ): Promise<PayerPage> {
    let url = from;
    let request: typeof first = first;
    this.visitedUrls = [];
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      this.visitedUrls.push(url);
      const response = await fetch(url, {
        ...request,
        redirect: 'manual',
        headers: { ...this.#headers, ...this.#cookieHeader(), ...request.headers },
      });
      this.#storeCookies(response.headers);
      const html = await response.text();
      const next = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || next === null)
        return new PayerPage(response.status, url, response.headers, html);
      // A form response must redirect with 303, so that the browser follows with a GET.
      if (response.status !== 303) throw new Error(`redirected with ${response.status} instead of 303`);
      url = new URL(next, url).href;
      request = { headers: {} };
    }
    throw new Error(`redirect loop: ${this.visitedUrls.join(' ')}`);
  }

  #cookieHeader(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? {} : { cookie };
  }

  #storeCookies(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
