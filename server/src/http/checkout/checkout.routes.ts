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
import type { CheckoutWatch } from '../../flows/payment-links/watch-checkouts.system.ts';
import { freshBytes } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Shop, Shops } from '../../organizations/shops.ts';
import { paymentLinkUrl } from '../../payment-links/payment-link.view.ts';
import type { Rail } from '../../rails/contract.ts';
import { BANKS } from '../../rails/pse/banks.ts';
import { toApiError } from '../framework-error.ts';
import { negotiateLanguage } from '../language.ts';
import { registerAssets } from './asset.ts';
import { type CookieScope, ownAttempts, rememberAttempt } from './attempt-cookies.ts';
import type { OperatorIdentity } from './brand.ts';
import { FixedWindowLimit } from './fixed-window-limit.ts';
import { type Frame, type Page, renderDocument, renderFragment } from './layout.ts';
import { sendLiveStatus } from './live-status.ts';
import { MESSAGES, type Messages } from './messages.ts';
import { pageHeaders } from './page-headers.ts';
import {
  type PageRequest,
  pagePath,
  parseMethod,
  readCookies,
  readScreenInput,
  toAuthorization,
  urlInLanguage,
} from './page-request.ts';
import { pickFields, readPayer } from './payer-form.ts';
import { errorPage, notFoundPage, tooManyAttemptsPage } from './plain-pages.ts';
import { receiptPage } from './receipt.ts';
import { DETAIL_FIELDS, type SubmittedForm } from './render-context.ts';
import { chooseScreen, type Screen } from './screen.ts';
import { renderScreen } from './screens.ts';

export interface CheckoutParts {
  readonly deps: Deps;
  readonly shops: Shops;
  readonly collectionStarter: CollectionStarter;
  readonly expediter: PaymentExpediter;
  readonly watch: CheckoutWatch;
  readonly banks: BankList;
  readonly operator: OperatorIdentity;
}

/** Screens that change without the payer; all others need no live updates. */
const LIVE_SCREENS: ReadonlySet<Screen['kind']> = new Set([
  'opening',
  'to_bank',
  'bank_question',
  'pending',
  'other_payer',
  'key',
  'closing',
  // Money may still arrive, or someone decides about it.
  'underpaid',
  'held_money',
  'canceled',
  'key_expired',
]);

/** Attempts per IP address and per link: more than a payer needs, too few for abuse. */
const ATTEMPTS_PER_ADDRESS = { limit: 60, windowMs: 60_000 };
const ATTEMPTS_PER_LINK = { limit: 20, windowMs: 600_000 };

/** Registers the payer pages: payment links, payins and receipts. They are server-rendered and work without JavaScript. */
export function registerCheckout(app: FastifyInstance, parts: CheckoutParts): void {
  const prefix = new URL(parts.deps.checkoutUrl).pathname.replace(/\/$/, '');
  void app.register((scope, _options, done) => {
    const pages = new Checkout(parts, prefix, registerAssets(scope, prefix));
    scope.setErrorHandler((error, request, reply) => pages.errorPage(error, request as PageRequest, reply));
    const link = `${prefix}/l/:token`;
    const payin = `${prefix}/p/:token`;
    scope.get(link, (request, reply) => pages.linkPage(request as PageRequest, reply));
    scope.post(`${link}/begin`, (request, reply) => pages.startAttempt(request as PageRequest, reply));
    scope.post(`${link}/change`, (request, reply) => pages.changeMethod(request as PageRequest, reply));
    scope.get(`${link}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'link'));
    scope.get(payin, (request, reply) => pages.payinPage(request as PageRequest, reply));
    scope.post(`${payin}/payer`, (request, reply) => pages.submitPayer(request as PageRequest, reply));
    scope.get(`${payin}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'payin'));
    scope.get(`${prefix}/r/:token`, (request, reply) => pages.receiptPage(request as PageRequest, reply));
    done();
  });
}

class Checkout {
  readonly #parts: CheckoutParts;
  readonly #prefix: string;
  readonly #assets: { readonly styleUrl: string; readonly scriptUrl: string };
  readonly #addressLimit = new FixedWindowLimit(ATTEMPTS_PER_ADDRESS.limit, ATTEMPTS_PER_ADDRESS.windowMs);
  readonly #linkLimit = new FixedWindowLimit(ATTEMPTS_PER_LINK.limit, ATTEMPTS_PER_LINK.windowMs);

  constructor(
    parts: CheckoutParts,
    prefix: string,
    assets: { readonly styleUrl: string; readonly scriptUrl: string },
  ) {
    this.#parts = parts;
    this.#prefix = prefix;
    this.#assets = assets;
  }

  async linkPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state) return this.#notFound(request, reply);
    return this.#show(request, reply, state, null);
  }

  /** The page of a payin, which is also the return URL for the bank. */
  async payinPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, expediter } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.#notFound(request, reply);
    // With `go` the payer is only leaving for the bank: there is nothing to poll yet.
    if (request.query['go'] === undefined) await expediter.pollNow(state);
    const { paymentLinkId } = state.attempt.payin;
    if (paymentLinkId === null) return this.#show(request, reply, state, null);
    // Only the payer and the bank know this URL, so this browser belongs to the payer who started the attempt.
    const url = new URL(paymentLinkUrl(deps, state.shop.organization.number, { id: paymentLinkId }));
    this.#rememberAttempt(request, reply, cookieScope(state.shop, paymentLinkId), state.attempt.payin.id);
    return reply.redirect(this.#relativeUrl(url), 303);
  }

  async startAttempt(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collectionStarter } = this.#parts;
    const { token } = request.params;
    const state = await loadLinkCheckout(deps, shops, token);
    if (!state?.link) return this.#notFound(request, reply);
    const path = `${this.#prefix}/l/${token}`;
    if (this.#isCrossSite(request)) return reply.redirect(path, 303);
    if (!this.#addressLimit.take(request.ip) || !this.#linkLimit.take(state.link.id))
      return this.#tooManyAttempts(request, reply, state.shop);
    const values = pickFields(request.body, [...DETAIL_FIELDS, 'method', 'bank', 'personType']);
    const method = parseMethod(values);
    // Rail pauses arrive with the heartbeat: if it is late, wait for it, so that a pause takes effect within a second.
    await deps.clock.whenFresh();
    if (
      !method ||
      (state.link.rail ?? method.rail) !== method.rail ||
      !state.shop.organization.rails.has(method.rail) ||
      this.#isUnavailable(method.rail, state.shop)
    )
      return reply.redirect(path, 303);
    const parsed = state.link.customer ? { customer: state.link.customer } : readPayer(values);
    if ('invalidFields' in parsed)
      return this.#show(request, reply.code(422), state, { values, invalidFields: parsed.invalidFields });
    const payin = await openAttempt(deps, collectionStarter, {
      ...state.shop,
      linkId: state.link.id,
      method,
      customer: parsed.customer,
      authorization: state.link.customer ? null : toAuthorization(request),
    });
    // Null: another attempt was faster, the link ended or the shop is suspended. The page shows which.
    if (payin) this.#rememberAttempt(request, reply, cookieScope(state.shop, state.link.id), payin.id);
    return reply.redirect(payin ? `${path}?go=1` : path, 303);
  }

  /** Switches to another method. The Bre-B key is closed first, so that the payer cannot pay twice. */
  async changeMethod(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state) return this.#notFound(request, reply);
    const path = `${this.#prefix}/l/${request.params.token}`;
    if (this.#isCrossSite(request)) return reply.redirect(path, 303);
    if (!this.#addressLimit.take(request.ip)) return this.#tooManyAttempts(request, reply, state.shop);
    if (state.link?.openBrebPayinId === state.attempt?.payin.id)
      await this.#parts.expediter.abandonAttempt(state);
    return reply.redirect(`${path}?again=1`, 303);
  }

  async submitPayer(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collectionStarter } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.#notFound(request, reply);
    const path = `${this.#prefix}/p/${request.params.token}`;
    if (this.#isCrossSite(request)) return reply.redirect(path, 303);
    if (!this.#addressLimit.take(request.ip)) return this.#tooManyAttempts(request, reply, state.shop);
    const values = pickFields(request.body, DETAIL_FIELDS);
    const parsed = readPayer(values);
    if ('invalidFields' in parsed)
      return this.#show(request, reply.code(422), state, { values, invalidFields: parsed.invalidFields });
    await attachPayer(
      deps,
      collectionStarter,
      state.shop,
      state.attempt.payin.id,
      parsed.customer,
      toAuthorization(request),
    );
    return reply.redirect(`${path}?go=1`, 303);
  }

  async live(request: PageRequest, reply: FastifyReply, kind: 'link' | 'payin'): Promise<FastifyReply> {
    const { deps, shops, watch } = this.#parts;
    const find = kind === 'link' ? loadLinkCheckout : loadPayinCheckout;
    const state = await find(deps, shops, request.params.token);
    if (!state?.attempt) return reply.code(404).send();
    return sendLiveStatus(reply, watch, state.attempt.payin, request.query['once'] !== undefined);
  }

  async receiptPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const found = await loadReceipt(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!found?.attempt || found.attempt.payin.status !== 'CONFIRMED') return this.#notFound(request, reply);
    const messages = this.#messages(request);
    return this.#send(request, reply, messages, {
      ...receiptPage(messages, found.shop, found.attempt),
      live: null,
      refreshSeconds: null,
    });
  }

  errorPage(error: unknown, request: PageRequest, reply: FastifyReply): FastifyReply {
    const apiError = toApiError(error);
    request.problemCode = apiError.code;
    const messages = this.#messages(request);
    const failed = apiError.entry.status >= 500;
    if (failed)
      this.#parts.deps.log.error(
        { requestId: request.id, code: apiError.code, ...errorFields(apiError.cause ?? error) },
        'checkout page failed',
      );
    const isRead = request.method !== 'POST';
    // The database response to a failed POST may be lost.
    const mayHaveStarted = !isRead && failed && apiError.code !== 'overloaded';
    const known = isRead && failed ? 'unread' : mayHaveStarted ? 'mayHaveStarted' : 'notStarted';
    const url = isRead ? request.url : pagePath(request);
    const page = errorPage(messages, known, { requestId: request.id, url });
    return this.#send(request, reply.code(apiError.entry.status), messages, page);
  }

  async #show(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    submitted: SubmittedForm | null,
  ): Promise<FastifyReply> {
    const { deps, banks } = this.#parts;
    const messages = this.#messages(request);
    const { token } = request.params;
    const path = `${this.#prefix}/${state.link ? 'l' : 'p'}/${token}`;
    const paused = (rail: Rail) => this.#isUnavailable(rail, state.shop);
    const ownAttemptIds = state.link
      ? ownAttempts(readCookies(request), cookieScope(state.shop, state.link.id))
      : [];
    const screen = chooseScreen(
      state,
      readScreenInput(request, (state.link && submitted?.values) || {}, ownAttemptIds, paused),
    );
    const offered = screen.kind === 'bank' ? await banks.offered(state.shop) : () => true;
    const main = renderScreen(screen, {
      messages,
      shop: state.shop,
      state,
      path,
      banks: BANKS.filter((bank) => bank.available && offered(bank.networkCode)),
      submitted,
      receiptUrl: ({ payin }: PagePayin) => this.#receiptUrl(state.shop, payin.id),
      qrNetwork: deps.qrNetwork,
    });
    const subject = state.link ?? state.attempt.payin;
    const isLive = LIVE_SCREENS.has(screen.kind);
    return this.#send(request, reply, messages, {
      title: firstHeading(main.toString()),
      shop: state.shop,
      amount: subject.amount,
      reference: subject.reference,
      description: state.link?.description ?? null,
      main,
      live: isLive && state.stamp !== null ? { url: `${path}/live`, stamp: state.stamp } : null,
      refreshSeconds: isLive ? 5 : null,
    });
  }

  #notFound(request: PageRequest, reply: FastifyReply): FastifyReply {
    const messages = this.#messages(request);
    return this.#send(request, reply.code(404), messages, notFoundPage(messages));
  }

  #tooManyAttempts(request: PageRequest, reply: FastifyReply, shop: Shop): FastifyReply {
    const messages = this.#messages(request);
    return this.#send(request, reply.code(429).header('retry-after', '60'), messages, {
      ...tooManyAttemptsPage(messages, pagePath(request)),
      shop,
    });
  }

  #send(request: PageRequest, reply: FastifyReply, messages: Messages, page: Page): FastifyReply {
    const { environment } = this.#parts.deps;
    const nonce = freshBytes(16).toString('base64url');
    const frame: Frame = {
      ...this.#assets,
      messages,
      nonce,
      otherLanguageUrl: urlInLanguage(request, messages.language === 'en' ? 'es' : 'en'),
      staging: environment !== 'production',
      operator: this.#parts.operator,
    };
    const { lang } = request.query;
    if (lang === 'es' || lang === 'en') this.#setCookie(reply, 'lang', lang);
    return reply
      .type('text/html; charset=utf-8')
      .headers(pageHeaders(nonce))
      .send(request.headers['x-part'] === 'main' ? renderFragment(page) : renderDocument(frame, page));
  }

  /** Paused by an operator, or failing now. */
  #isUnavailable(rail: Rail, { organization }: Shop): boolean {
    const { deps, collectionStarter } = this.#parts;
    return deps.railPauses.paused(rail, organization.id) || collectionStarter.isDown(rail);
  }

  #messages(request: PageRequest): Messages {
    const chosen = request.query['lang'] ?? readCookies(request).get('lang');
    if (chosen === 'es' || chosen === 'en') return MESSAGES[chosen];
    // Spanish unless the browser prefers English.
    return MESSAGES[negotiateLanguage(request.headers['accept-language'], 'es')];
  }

  #receiptUrl({ organization }: Shop, payinId: string): string {
    const { receiptTokens, cell } = this.#parts.deps;
    return `${this.#prefix}/r/${receiptTokens.make({ organizationNumber: organization.number, id: payinId }, cell)}`;
  }

  #rememberAttempt(request: PageRequest, reply: FastifyReply, scope: CookieScope, payinId: string): void {
    for (const { name, value } of rememberAttempt(readCookies(request), scope, payinId))
      this.#setCookie(reply, name, value);
  }

  /** An empty value deletes the cookie. */
  #setCookie(reply: FastifyReply, name: string, value: string): void {
    const secure = this.#parts.deps.checkoutUrl.startsWith('https:') ? '; Secure' : '';
    const maxAge = value === '' ? 0 : 86_400;
    void reply.header(
      'set-cookie',
      `${name}=${value}; Path=${this.#prefix}/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`,
    );
  }

  /** Path only, so that the redirect stays on the host of the request. */
  #relativeUrl(url: URL): string {
    return url.pathname + url.search;
  }

  /** Whether another site submitted the form. Old browsers omit the header; the secret URL protects those. */
  #isCrossSite(request: PageRequest): boolean {
    const site = request.headers['sec-fetch-site'];
    return site !== undefined && site !== 'same-origin' && site !== 'none';
  }
}

function cookieScope({ secrets }: Shop, linkId: string): CookieScope {
  return { linkId, hashKey: secrets.hashKey };
}

function firstHeading(main: string): string {
  return /<h1>([^<]*)/.exec(main)?.[1] ?? '';
}
