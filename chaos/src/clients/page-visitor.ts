import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../run/random.ts';
import type { Stack } from '../stack/stack.ts';
import type { ClientJournal } from './client-journal.ts';
import type { MerchantLink } from './link-client.ts';
import { REQUEST_TIMEOUT_MS, RETRY_FOR_MS } from './payin-client.ts';

/** Payments of a link that the ledger has posted. */
const POSTED = `
  select t.cause_kind || ' ' || t.cause_id as posting
  from caudal.payins p join caudal.ledger_transfers t on t.organization_id = p.organization_id and t.resource_id = p.id
  where p.payment_link_id = $1 and t.cause_kind in ('payment', 'payment_excess')`;

/** A browser reads a stream at most this long and then opens the page again. */
const STREAM_TIMEOUT_MS = 20_000;

/** The screen of a page as text, one line per element, and the Bre-B key that it shows. */
interface Screen {
  readonly text: string;
  readonly key: string | null;
}

interface PageResponse {
  readonly status: number;
  readonly screen: Screen;
  /** The stream of later screens, if the page is live. */
  readonly liveUrl: string | null;
}

/** The state of a link before a request. */
interface Before {
  readonly sentMs: number;
  readonly posted: readonly string[];
}

/**
 * Browsers that show the page of a link. Records each screen together with the payments that the ledger had posted before
 * the request and after the response, so that the checker knows which statements about money were true.
 */
export class PageVisitor {
  readonly #stack: Stack;
  readonly #journal: ClientJournal;
  #requests = 0;

  constructor(stack: Stack, journal: ClientJournal) {
    this.#stack = stack;
    this.#journal = journal;
  }

  /** Opens the page once. Without a response, nothing is recorded. */
  async open(link: MerchantLink, cookie?: string): Promise<PageResponse | null> {
    const before = await this.#readBefore(link);
    const response = await this.#request(link.path, cookie);
    if (response) await this.#record(link, before, response.status, response.screen);
    return response;
  }

  /** Keeps the page open until `done`: opens it again at random intervals, or receives the screens that the server pushes. */
  async keepOpen(random: Random, link: MerchantLink, cookie: () => string | undefined, done: AbortSignal) {
    while (!done.aborted) {
      const response = await this.open(link, cookie());
      if (response && response.liveUrl !== null && random.chance(0.5))
        await this.#receive(link, response.liveUrl, cookie(), done);
      await sleep(random.integer(100, 1500), undefined, { signal: done }).catch(() => undefined);
    }
  }

  /**
   * Records the screens of a stream until it ends. The server may have rendered a pushed screen long before it arrives, but
   * not before the stream was requested.
   */
  async #receive(
    link: MerchantLink,
    liveUrl: string,
    cookie: string | undefined,
    done: AbortSignal,
  ): Promise<void> {
    const before = await this.#readBefore(link);
    const signal = AbortSignal.any([done, AbortSignal.timeout(STREAM_TIMEOUT_MS)]);
    try {
      const response = await fetch(this.#api() + liveUrl, { headers: headers(cookie), signal });
      let text = '';
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const screen = pushedScreen(event);
          if (screen) await this.#record(link, before, 200, screen);
        }
      }
    } catch {
      // The stream broke or the payer left.
    }
  }

  async #readBefore(link: MerchantLink): Promise<Before> {
    const posted = await this.#posted(link);
    return { sentMs: Date.now(), posted };
  }

  async #record(link: MerchantLink, before: Before, status: number, screen: Screen): Promise<void> {
    const answeredMs = Date.now();
    const after = await this.#posted(link);
    this.#journal.write({
      kind: 'screen',
      linkId: link.id,
      sentMs: before.sentMs,
      answeredMs,
      status,
      ...screen,
      before: before.posted,
      after,
    });
  }

  async #request(path: string, cookie: string | undefined): Promise<PageResponse | null> {
    try {
      const response = await fetch(this.#api() + path, {
        headers: headers(cookie),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const html = await response.text();
      return { status: response.status, screen: readScreen(html), liveUrl: readLiveUrl(html) };
    } catch {
      return null;
    }
  }

  #api(): string {
    const { apis } = this.#stack;
    this.#requests += 1;
    return apis[this.#requests % apis.length]?.url ?? '';
  }

  /** The database may be down for a moment. */
  async #posted({ id }: MerchantLink): Promise<string[]> {
    const until = performance.now() + RETRY_FOR_MS;
    for (;;) {
      try {
        const rows = await this.#stack.query<{ posting: string }>(POSTED, [id]);
        return rows.map(({ posting }) => posting);
      } catch (error) {
        if (performance.now() > until) throw error;
        await sleep(100);
      }
    }
  }
}

function headers(cookie: string | undefined): Record<string, string> {
  return { 'accept-language': 'es-CO', ...(cookie === undefined ? {} : { cookie }) };
}

/** Reads the main part of a page. */
function readScreen(html: string): Screen {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? html;
  const text = main
    .replace(/<[^>]*>/g, '\n')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
  return { text, key: /data-key="([^"]*)"/.exec(main)?.[1] ?? null };
}

/** The URL that the page's script opens: it names the stamp of the screen that the page shows. */
function readLiveUrl(html: string): string | null {
  const [, url] = /data-live="([^"]*)"/.exec(html) ?? [];
  const [, stamp = ''] = /data-stamp="([^"]*)"/.exec(html) ?? [];
  return url === undefined ? null : `${url}?stamp=${encodeURIComponent(stamp)}`;
}

/** The screen after the stamp in an event, if the server pushed one. */
function pushedScreen(event: string): Screen | null {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return data.length > 1 ? readScreen(data.slice(1).join('\n')) : null;
}
