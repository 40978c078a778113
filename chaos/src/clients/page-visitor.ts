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

const STREAM_PIECE_TIMEOUT_MS = 20_000;

/** The screen of a page, as a browser without a cookie, or with the cookie of the payer, receives it. */
interface Shown {
  readonly status: number;
  readonly text: string;
  readonly key: string | null;
  /** The stream of later screens, if the page is live. */
  readonly liveUrl: string | null;
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
  async open(link: MerchantLink, cookie?: string): Promise<Shown | null> {
    const before = await this.#posted(link);
    const sentMs = Date.now();
    const shown = await this.#request(link.path, cookie);
    const answeredMs = Date.now();
    if (!shown) return null;
    const { status, text, key } = shown;
    const after = await this.#posted(link);
    this.#journal.write({
      kind: 'screen',
      linkId: link.id,
      sentMs,
      answeredMs,
      status,
      text,
      key,
      before,
      after,
    });
    return shown;
  }

  /** Opens the page and reopens it at random intervals, or receives the screens that the server pushes, until `done`. */
  async stay(random: Random, link: MerchantLink, cookie: () => string | undefined, done: AbortSignal) {
    while (!done.aborted) {
      const shown = await this.open(link, cookie());
      if (shown && shown.liveUrl !== null && random.chance(0.5))
        await this.#receive(link, shown.liveUrl, cookie(), done);
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
    const before = await this.#posted(link);
    const sentMs = Date.now();
    const signal = AbortSignal.any([done, AbortSignal.timeout(STREAM_PIECE_TIMEOUT_MS)]);
    try {
      const response = await fetch(this.#api() + liveUrl, { headers: headers(cookie), signal });
      let text = '';
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const screen = pushedScreen(event);
          if (screen === null) continue;
          const answeredMs = Date.now();
          const after = await this.#posted(link);
          const { text: shown, key } = readScreen(screen);
          this.#journal.write({
            kind: 'screen',
            linkId: link.id,
            sentMs,
            answeredMs,
            status: 200,
            text: shown,
            key,
            before,
            after,
          });
        }
      }
    } catch {
      // The stream broke or the payer left.
    }
  }

  async #request(path: string, cookie: string | undefined): Promise<Shown | null> {
    try {
      const response = await fetch(this.#api() + path, {
        headers: headers(cookie),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const html = await response.text();
      return { status: response.status, ...readScreen(html), liveUrl: readLiveUrl(html) };
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

/** The main part of a page as text, one line per element, and the key that it shows. */
function readScreen(html: string): { readonly text: string; readonly key: string | null } {
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

/** The document after the stamp in an event, or null. */
function pushedScreen(event: string): string | null {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return data.length > 1 ? data.slice(1).join('\n') : null;
}
