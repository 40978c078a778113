const MOST_REDIRECTS = 5;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function decoded(markup: string): string {
  return markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : decoded(value);
}

function textOf(markup: string): string {
  return decoded(markup.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

export interface PageForm {
  readonly method: 'get' | 'post';
  readonly action: string;
  /** As a browser would send them, untouched. */
  readonly values: Readonly<Record<string, string>>;
}

/** What came of a request: a page, as far as somebody without JavaScript meets it. */
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
    return textOf(/<h1>(.*?)<\/h1>/s.exec(this.html)?.[1] ?? '');
  }

  get text(): string {
    return textOf(/<body.*<\/body>/s.exec(this.html)?.[0] ?? this.html);
  }

  get language(): string | null {
    return attribute(/<html[^>]*>/.exec(this.html)?.[0] ?? '', 'lang');
  }

  /** After so many seconds a browser loads it again by itself. */
  get refreshes(): boolean {
    return /<noscript><meta http-equiv="refresh"/.test(this.html);
  }

  get links(): { readonly text: string; readonly href: string }[] {
    return [...this.html.matchAll(/(<a [^>]*>)(.*?)<\/a>/gs)].map(([, tag = '', inside = '']) => ({
      text: textOf(inside),
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
      values: Object.fromEntries([...inputsOf(inside), ...selectsOf(inside)]),
    };
  }

  /** The values that can be chosen under a name, in their order. */
  choices(name: string): string[] {
    return [...this.html.matchAll(/<input [^>]*type="radio"[^>]*>/g)]
      .filter(([tag]) => attribute(tag, 'name') === name)
      .map(([tag]) => attribute(tag, 'value') ?? '');
  }

  /** What stands beside a field as wrong. */
  errorOf(name: string): string | null {
    const error = new RegExp(`<span class="error" id="${name}-wrong">(.*?)</span>`, 's').exec(this.html)?.[1];
    return error === undefined ? null : textOf(error);
  }

  /** The key to pay, on the screen that shows one. */
  get key(): string {
    const key = /data-key="([^"]*)"/.exec(this.html)?.[1];
    if (key === undefined) throw new Error(`"${this.h1}" (${this.status}) shows no key`);
    return decoded(key);
  }
}

function inputsOf(markup: string): [string, string][] {
  return [...markup.matchAll(/<input [^>]*>/g)].flatMap(([tag]): [string, string][] => {
    const name = attribute(tag, 'name');
    const chosen = !/type="(?:radio|checkbox)"/.test(tag) || /\schecked[\s>]/.test(tag);
    return name !== null && chosen ? [[name, attribute(tag, 'value') ?? '']] : [];
  });
}

function selectsOf(markup: string): [string, string][] {
  return [...markup.matchAll(/(<select [^>]*>)(.*?)<\/select>/gs)].map(([, tag = '', options = '']) => {
    const chosen = /<option [^>]*\sselected>/.exec(options)?.[0] ?? /<option [^>]*>/.exec(options)?.[0] ?? '';
    return [attribute(tag, 'name') ?? '', attribute(chosen, 'value') ?? ''];
  });
}

/** A payer's browser without JavaScript: cookies, redirects, links and forms, over real HTTP. */
export class PayerBrowser {
  readonly cookies = new Map<string, string>();
  /** Every address of the last walk, redirects included. */
  walked: string[] = [];
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<PayerPage> {
    return this.#walk(url, { headers });
  }

  click(page: PayerPage, text: string): Promise<PayerPage> {
    return this.open(page.linkTo(text));
  }

  /** Sends the page's form as it stands, with what the payer changed. */
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
    return this.#walk(url.href, { headers });
  }

  post(
    url: string,
    values: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PayerPage> {
    return this.#walk(url, { method: 'POST', headers, body: new URLSearchParams(values) });
  }

  async #walk(
    from: string,
    first: { method?: string; headers: Readonly<Record<string, string>>; body?: URLSearchParams },
  ): Promise<PayerPage> {
    let url = from;
    let request: typeof first = first;
    this.walked = [];
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      this.walked.push(url);
      const response = await fetch(url, {
        ...request,
        redirect: 'manual',
        headers: { ...this.#headers, ...this.#cookieHeader(), ...request.headers },
      });
      this.#keep(response.headers);
      const html = await response.text();
      const next = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || next === null)
        return new PayerPage(response.status, url, response.headers, html);
      // What follows a form is a GET of the same browser: 303.
      if (response.status !== 303) throw new Error(`redirected by ${response.status}`);
      url = new URL(next, url).href;
      request = { headers: {} };
    }
    throw new Error(`redirected in a circle: ${this.walked.join(' ')}`);
  }

  #cookieHeader(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return cookie === '' ? {} : { cookie };
  }

  #keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
  }
}
