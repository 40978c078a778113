import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Deps } from '../../deps.ts';
import type { BankList } from '../../flows/payins/read-banks.ts';
import type { CollectionStarter } from '../../flows/payins/start-collection.ts';
import { attachPayer } from '../../flows/payment-links/attach-payer.ts';
import type { PaymentExpediter } from '../../flows/payment-links/expedite-payment.ts';
import {
  type CheckoutState,
  loadLinkCheckout,
  loadPayinCheckout,
  loadReceipt,
  type PagePayin,
} from '../../flows/payment-links/load-checkout.ts';
import { openAttempt } from '../../flows/payment-links/open-attempt.ts';
import { type CheckoutWatch, stampOf } from '../../flows/payment-links/watch-checkouts.ts';
import { freshBytes } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Shop, Shops } from '../../organizations/shops.ts';
import { paymentLinkUrl } from '../../payment-links/payment-link.view.ts';
import type { Rail } from '../../rails/contract.ts';
import { BANKS } from '../../rails/pse/banks.ts';
import { faultOf } from '../framework-error.ts';
import { html } from '../html.ts';
import { languageOf } from '../language.ts';
import { registerAssets } from './asset.ts';
import { DETAIL_FIELDS, type Typed } from './drawing.ts';
import { document, type Frame, fragment, type Page } from './layout.ts';
import { Limit } from './limit.ts';
import { liveText } from './live.ts';
import { WORDS, type Words } from './messages.ts';
import { pageHeaders } from './page-headers.ts';
import {
  askedOf,
  authorizationOf,
  cookieOf,
  inLanguage,
  methodOf,
  type PageRequest,
  pagePath,
} from './page-request.ts';
import { readPayer, valuesOf } from './payer-form.ts';
import { receiptPage } from './receipt.ts';
import { type Screen, screenOf } from './screen.ts';
import { draw } from './screens.ts';

export interface CheckoutParts {
  readonly deps: Deps;
  readonly shops: Shops;
  readonly collecting: CollectionStarter;
  readonly expediter: PaymentExpediter;
  readonly watch: CheckoutWatch;
  readonly banks: BankList;
  /** Who runs this deployment. */
  readonly operator: string;
}

/** Screens on which nothing will change by itself. */
const STILL: ReadonlySet<Screen['kind']> = new Set([
  'method',
  'start',
  'bank',
  'details',
  'confirmed',
  'declined',
  'canceled',
  'key_expired',
  'already_paid',
  'link_expired',
  'payin_expired',
  'underpaid',
  'unavailable',
  'suspended',
]);

/** Attempts of one address and of one link: more than any payer needs, too few to hurt anybody. */
const OF_ADDRESS = { limit: 60, withinMs: 60_000 };
const OF_LINK = { limit: 20, withinMs: 600_000 };

/** The pages of payers: behind a link, behind a payin, and receipts. Server-rendered, and complete without script. */
export function registerCheckout(app: FastifyInstance, parts: CheckoutParts): void {
  const prefix = new URL(parts.deps.checkoutUrl).pathname.replace(/\/$/, '');
  void app.register((scope, _options, done) => {
    const pages = new Checkout(parts, prefix, registerAssets(scope, prefix));
    scope.setErrorHandler((error, request, reply) => pages.broken(error, request as PageRequest, reply));
    const link = `${prefix}/l/:token`;
    const payin = `${prefix}/p/:token`;
    scope.get(link, (request, reply) => pages.link(request as PageRequest, reply));
    scope.post(`${link}/begin`, (request, reply) => pages.begin(request as PageRequest, reply));
    scope.post(`${link}/change`, (request, reply) => pages.change(request as PageRequest, reply));
    scope.get(`${link}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'link'));
    scope.get(payin, (request, reply) => pages.payin(request as PageRequest, reply));
    scope.post(`${payin}/payer`, (request, reply) => pages.payer(request as PageRequest, reply));
    scope.get(`${payin}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'payin'));
    scope.get(`${prefix}/r/:token`, (request, reply) => pages.receipt(request as PageRequest, reply));
    done();
  });
}

class Checkout {
  readonly #parts: CheckoutParts;
  readonly #prefix: string;
  readonly #assets: { readonly styleUrl: string; readonly scriptUrl: string };
  readonly #ofAddress = new Limit(OF_ADDRESS.limit, OF_ADDRESS.withinMs);
  readonly #ofLink = new Limit(OF_LINK.limit, OF_LINK.withinMs);

  constructor(
    parts: CheckoutParts,
    prefix: string,
    assets: { readonly styleUrl: string; readonly scriptUrl: string },
  ) {
    this.#parts = parts;
    this.#prefix = prefix;
    this.#assets = assets;
  }

  async link(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state) return this.#unknown(request, reply);
    return this.#show(request, reply, state, null);
  }

  /** A payin's own page, and where a bank sends the payer back to. */
  async payin(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, expediter } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.#unknown(request, reply);
    // Who was just sent to the bank has not come back from it.
    if (request.query['go'] === undefined) await expediter.ask(state);
    const { paymentLinkId } = state.attempt.payin;
    if (paymentLinkId === null) return this.#show(request, reply, state, null);
    // Only the payer and the bank know this address: whoever comes by it is the one who began.
    const url = new URL(paymentLinkUrl(deps, state.shop.organization.number, { id: paymentLinkId }));
    this.#remember(reply, state.attempt.payin.id);
    return reply.redirect(this.#local(url), 303);
  }

  async begin(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collecting } = this.#parts;
    const { token } = request.params;
    const state = await loadLinkCheckout(deps, shops, token);
    if (!state?.link) return this.#unknown(request, reply);
    const path = `${this.#prefix}/l/${token}`;
    if (this.#foreign(request)) return reply.redirect(path, 303);
    if (!this.#ofAddress.take(request.ip) || !this.#ofLink.take(state.link.id))
      return this.#busy(request, reply, state.shop);
    const values = valuesOf(request.body, [...DETAIL_FIELDS, 'method', 'bank', 'personType']);
    const method = methodOf(values);
    // A pause of a rail holds within a second, also when the heartbeat that brings it is late.
    await deps.clock.whenFresh();
    if (
      !method ||
      (state.link.rail ?? method.rail) !== method.rail ||
      !state.shop.organization.rails.has(method.rail) ||
      deps.railPauses.paused(method.rail, state.shop.organization.id)
    )
      return reply.redirect(path, 303);
    const read = state.link.customer ? { customer: state.link.customer } : readPayer(values);
    if ('wrong' in read) return this.#show(request, reply.code(422), state, { values, wrong: read.wrong });
    const payin = await openAttempt(deps, collecting, {
      ...state.shop,
      linkId: state.link.id,
      method,
      customer: read.customer,
      authorization: state.link.customer ? null : authorizationOf(request),
    });
    // Another attempt was first, the link has ended or the shop is suspended: the page shows it.
    if (payin) this.#remember(reply, payin.id);
    return reply.redirect(payin ? `${path}?go=1` : path, 303);
  }

  /** Another method: the key is closed first, so that nobody pays twice. */
  async change(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state) return this.#unknown(request, reply);
    const path = `${this.#prefix}/l/${request.params.token}`;
    if (this.#foreign(request)) return reply.redirect(path, 303);
    if (!this.#ofAddress.take(request.ip)) return this.#busy(request, reply, state.shop);
    if (state.link?.openPayinId === state.attempt?.payin.id) await this.#parts.expediter.giveUp(state);
    return reply.redirect(`${path}?again=1`, 303);
  }

  async payer(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collecting } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.#unknown(request, reply);
    const path = `${this.#prefix}/p/${request.params.token}`;
    if (this.#foreign(request)) return reply.redirect(path, 303);
    if (!this.#ofAddress.take(request.ip)) return this.#busy(request, reply, state.shop);
    const values = valuesOf(request.body, DETAIL_FIELDS);
    const read = readPayer(values);
    if ('wrong' in read) return this.#show(request, reply.code(422), state, { values, wrong: read.wrong });
    await attachPayer(
      deps,
      collecting,
      state.shop,
      state.attempt.payin.id,
      read.customer,
      authorizationOf(request),
    );
    return reply.redirect(`${path}?go=1`, 303);
  }

  async live(request: PageRequest, reply: FastifyReply, kind: 'link' | 'payin'): Promise<FastifyReply> {
    const { deps, shops, watch } = this.#parts;
    const find = kind === 'link' ? loadLinkCheckout : loadPayinCheckout;
    const state = await find(deps, shops, request.params.token);
    if (!state?.attempt) return reply.code(404).send();
    return liveText(reply, watch, state.attempt.payin, request.query['once'] !== undefined);
  }

  async receipt(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const found = await loadReceipt(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!found?.attempt || found.attempt.payin.status !== 'CONFIRMED') return this.#unknown(request, reply);
    const words = this.#words(request);
    return this.#send(request, reply, words, {
      ...receiptPage(words, found.shop, found.attempt),
      live: null,
      refreshSeconds: null,
    });
  }

  /** What went wrong is said honestly: a payment may have begun where the answer of the database was lost. */
  broken(error: unknown, request: PageRequest, reply: FastifyReply): FastifyReply {
    const fault = faultOf(error);
    request.problemCode = fault.code;
    const words = this.#words(request);
    if (fault.entry.status >= 500)
      this.#parts.deps.log.error(
        { requestId: request.id, code: fault.code, ...errorFields(fault.cause ?? error) },
        'a page failed',
      );
    const moved = request.method === 'POST' && fault.entry.status >= 500 && fault.code !== 'overloaded';
    const { broken } = words;
    const main = html`<h1>${broken.title}</h1><p>${moved ? broken.moved : broken.notMoved}</p>
<p class="support">${request.id}</p><p><a class="button" href="${pagePath(request)}">${broken.again}</a></p>`;
    return this.#send(request, reply.code(fault.entry.status), words, bare(broken.title, main));
  }

  async #show(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    typed: Typed | null,
  ): Promise<FastifyReply> {
    const { deps, banks } = this.#parts;
    const words = this.#words(request);
    const { token } = request.params;
    const path = `${this.#prefix}/${state.link ? 'l' : 'p'}/${token}`;
    const paused = (rail: Rail) => deps.railPauses.paused(rail, state.shop.organization.id);
    const screen = screenOf(state, askedOf(request, (state.link && typed?.values) || {}, paused));
    const offered = screen.kind === 'bank' ? await banks.offered(state.shop) : () => true;
    const main = draw(screen, {
      words,
      shop: state.shop,
      state,
      path,
      banks: BANKS.filter((bank) => bank.available && offered(bank.networkCode)),
      typed,
      receiptUrl: ({ payin }: PagePayin) => this.#receiptUrl(state.shop, payin.id),
      qrNetwork: deps.qrNetwork,
    });
    const subject = state.link ?? state.attempt.payin;
    const still = STILL.has(screen.kind);
    return this.#send(request, reply, words, {
      title: titleOf(main.toString()),
      shop: state.shop,
      amount: subject.amount,
      reference: subject.reference,
      description: state.link?.description ?? null,
      main,
      live: still || !state.attempt ? null : { url: `${path}/live`, stamp: stampOf(state.attempt.payin) },
      refreshSeconds: still ? null : 5,
    });
  }

  #unknown(request: PageRequest, reply: FastifyReply): FastifyReply {
    const words = this.#words(request);
    const { title, about } = words.unknown;
    return this.#send(request, reply.code(404), words, bare(title, html`<h1>${title}</h1><p>${about}</p>`));
  }

  #busy(request: PageRequest, reply: FastifyReply, shop: Shop): FastifyReply {
    const words = this.#words(request);
    const { title, about } = words.busy;
    return this.#send(request, reply.code(429).header('retry-after', '60'), words, {
      ...bare(title, html`<h1>${title}</h1><p>${about}</p>`),
      shop,
    });
  }

  #send(request: PageRequest, reply: FastifyReply, words: Words, page: Page): FastifyReply {
    const { environment } = this.#parts.deps;
    const nonce = freshBytes(16).toString('base64url');
    const frame: Frame = {
      ...this.#assets,
      words,
      nonce,
      otherLanguageUrl: inLanguage(request, words.language === 'en' ? 'es' : 'en'),
      staging: environment !== 'production',
      operator: this.#parts.operator,
    };
    const { lang } = request.query;
    if (lang === 'es' || lang === 'en') this.#cookie(reply, `lang=${lang}`);
    return reply
      .type('text/html; charset=utf-8')
      .headers(pageHeaders(nonce))
      .send(request.headers['x-part'] === 'main' ? fragment(page) : document(frame, page));
  }

  #words(request: PageRequest): Words {
    const chosen = request.query['lang'] ?? cookieOf(request, 'lang');
    if (chosen === 'es' || chosen === 'en') return WORDS[chosen];
    // Spanish unless the reader says that they prefer English.
    return WORDS[languageOf(request.headers['accept-language'], 'es')];
  }

  #receiptUrl({ organization }: Shop, payinId: string): string {
    const { receiptTokens, cell } = this.#parts.deps;
    return `${this.#prefix}/r/${receiptTokens.make({ organizationNumber: organization.number, id: payinId }, cell)}`;
  }

  #remember(reply: FastifyReply, payinId: string): void {
    this.#cookie(reply, `attempt=${payinId}`);
  }

  #cookie(reply: FastifyReply, pair: string): void {
    const secure = this.#parts.deps.checkoutUrl.startsWith('https:') ? '; Secure' : '';
    void reply.header(
      'set-cookie',
      `${pair}; Path=${this.#prefix}/; Max-Age=86400; HttpOnly; SameSite=Lax${secure}`,
    );
  }

  /** The same host the request came to, whatever the configured one is. */
  #local(url: URL): string {
    return url.pathname + url.search;
  }

  /** A form on somebody else's page. Old browsers do not say where a form stands; the address is a secret anyway. */
  #foreign(request: PageRequest): boolean {
    const site = request.headers['sec-fetch-site'];
    return site !== undefined && site !== 'same-origin' && site !== 'none';
  }
}

function bare(title: string, main: Page['main']): Page {
  return {
    title,
    main,
    shop: null,
    amount: null,
    reference: null,
    description: null,
    live: null,
    refreshSeconds: null,
  };
}

function titleOf(main: string): string {
  return /<h1>([^<]*)/.exec(main)?.[1] ?? '';
}
