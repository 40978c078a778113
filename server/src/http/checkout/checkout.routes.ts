import type { FastifyInstance, FastifyReply } from 'fastify';
import { CompletedPaymentCounter } from '../../flows/payment-links/completed-payments.ts';
import {
  type CheckoutState,
  loadLinkCheckout,
  loadPayinCheckout,
  type PagePayin,
} from '../../flows/payment-links/load-checkout.ts';
import { loadOwnPayer } from '../../flows/payment-links/load-own-payer.ts';
import { freshBytes } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Shop } from '../../organizations/shops.ts';
import { brebQr } from '../../payins/breb-qr.ts';
import { isFinal } from '../../payins/payin.states.ts';
import { paymentLinkUrl } from '../../payment-links/payment-link.view.ts';
import { verificationCode } from '../../payment-links/verification-code.ts';
import { BANKS } from '../../rails/pse/banks.ts';
import { toApiError } from '../framework-error.ts';
import { html, type SafeHtml } from '../html.ts';
import { negotiateLanguage } from '../language.ts';
import { traceFields } from '../request-spans.ts';
import { type CookieScope, cookieText, ownAttempts, rememberAttempt } from './attempt-cookies.ts';
import { authenticity } from './authenticity.ts';
import { registerBrandImages } from './brand-images.ts';
import { CheckoutForms, type FormPages } from './checkout-forms.ts';
import type { CheckoutParts } from './checkout-parts.ts';
import { compressPage } from './compress-page.ts';
import { isCrossSite } from './cross-site.ts';
import { FixedWindowLimit } from './fixed-window-limit.ts';
import { type Frame, type Page, renderDocument, renderFragment } from './layout.ts';
import { LiveLimits } from './live-limits.ts';
import { rejectLive, sendLiveStatus, sendStatusOnce } from './live-status.ts';
import { formatMessage, MESSAGES, type Messages } from './messages.ts';
import { offerRails } from './offered-rails.ts';
import { pageHeaders } from './page-headers.ts';
import {
  chosenLanguage,
  type PageRequest,
  pagePath,
  readCookies,
  readScreenInput,
  urlInLanguage,
} from './page-request.ts';
import { knownValues } from './payer-form.ts';
import { errorPage, plainPage } from './plain-pages.ts';
import { pastedPath, retryScreen, unknownLink } from './plain-screens.ts';
import { type ReceiptParts, registerReceipts } from './receipt.routes.ts';
import type { PayerForm } from './render-context.ts';
import { chooseScreen, type Screen } from './screen.ts';
import { renderScreen } from './screens.ts';

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

/** Requests with unknown URLs per address and minute: more than people mistype, too few to scan for links. */
const UNKNOWN_URLS_PER_ADDRESS = { limit: 300, windowMs: 60_000 };
const NO_FORM: PayerForm = { values: {}, invalidFields: [] };

/** Registers the payer pages: payment links, payins and receipts. They are server-rendered and work without JavaScript. */
export function registerCheckout(app: FastifyInstance, parts: CheckoutParts): void {
  const prefix = new URL(parts.deps.checkoutUrl).pathname.replace(/\/$/, '');
  void app.register((scope, _options, done) => {
    const pages = new Checkout(parts, prefix);
    const forms = new CheckoutForms(parts, pages);
    scope.setErrorHandler((error, request, reply) => pages.errorPage(error, request as PageRequest, reply));
    registerBrandImages(scope, prefix, parts.logos);
    const link = `${prefix}/l/:token`;
    const payin = `${prefix}/p/:token`;
    scope.get(link, (request, reply) => pages.linkPage(request as PageRequest, reply));
    scope.post(`${link}/begin`, (request, reply) => forms.startAttempt(request as PageRequest, reply));
    scope.post(`${link}/change`, (request, reply) => forms.changeMethod(request as PageRequest, reply));
    scope.post(`${link}/language`, (request, reply) =>
      forms.switchLanguage(request as PageRequest, reply, 'link'),
    );
    scope.get(`${link}/qr.png`, (request, reply) => pages.qrImage(request as PageRequest, reply, 'link'));
    scope.get(`${link}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'link'));
    scope.get(payin, (request, reply) => pages.payinPage(request as PageRequest, reply));
    scope.post(`${payin}/payer`, (request, reply) => forms.submitPayer(request as PageRequest, reply));
    scope.post(`${payin}/language`, (request, reply) =>
      forms.switchLanguage(request as PageRequest, reply, 'payin'),
    );
    scope.get(`${payin}/qr.png`, (request, reply) => pages.qrImage(request as PageRequest, reply, 'payin'));
    scope.get(`${payin}/live`, (request, reply) => pages.live(request as PageRequest, reply, 'payin'));
    registerReceipts(scope, pages.receiptParts);
    // Without a path prefix the pages share the root with the API, whose unknown routes are not ours.
    const strayPaths = prefix === '' ? ['/l', '/l/*', '/p', '/p/*', '/r', '/r/*'] : [prefix, `${prefix}/*`];
    for (const path of strayPaths)
      scope.get(path, (request, reply) => pages.strayPage(request as PageRequest, reply));
    done();
  });
}

class Checkout implements FormPages {
  readonly #parts: CheckoutParts;
  readonly #prefix: string;
  readonly #paymentCounter: CompletedPaymentCounter;
  readonly #liveLimits = new LiveLimits();
  readonly #unknownLimit = new FixedWindowLimit(
    UNKNOWN_URLS_PER_ADDRESS.limit,
    UNKNOWN_URLS_PER_ADDRESS.windowMs,
  );

  constructor(parts: CheckoutParts, prefix: string) {
    this.#parts = parts;
    this.#prefix = prefix;
    this.#paymentCounter = new CompletedPaymentCounter(parts.deps);
  }

  get receiptParts(): ReceiptParts {
    return {
      deps: this.#parts.deps,
      shops: this.#parts.shops,
      prefix: this.#prefix,
      sendsEmail: this.#parts.sendsEmail,
      messages: (request) => this.#messages(request),
      send: (...args) => this.#send(...args),
      notFound: (...args) => this.notFound(...args),
      isCrossSite: (request) => isCrossSite(request, this.#parts.deps.checkoutUrl),
    };
  }

  async linkPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state) return this.notFound(request, reply);
    return this.show(request, reply, state, null);
  }

  /** The page of a payin, which is also the return URL for the bank. */
  async payinPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, expediter } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.notFound(request, reply);
    // With `go` the payer is only leaving for the bank: there is nothing to poll yet.
    if (request.query['go'] === undefined) await expediter.pollNow(state);
    const { paymentLinkId } = state.attempt.payin;
    if (paymentLinkId === null) return this.show(request, reply, state, null);
    // Only the payer and the bank know this URL, so this browser belongs to the payer who started the attempt.
    const url = new URL(paymentLinkUrl(deps, state.shop.organization.number, { id: paymentLinkId }));
    this.rememberAttempt(request, reply, state, {
      linkId: paymentLinkId,
      payinId: state.attempt.payin.id,
    });
    return reply.redirect(this.#relativeUrl(url), 303);
  }

  /** The QR code of an open Bre-B payin as a file, because bank apps read codes from the photo gallery. */
  async qrImage(request: PageRequest, reply: FastifyReply, kind: 'link' | 'payin'): Promise<FastifyReply> {
    const { deps, shops } = this.#parts;
    const load = kind === 'link' ? loadLinkCheckout : loadPayinCheckout;
    const state = await load(deps, shops, request.params.token);
    const payin = state?.attempts.find(
      ({ payin: each }) => each.source.rail === 'BRE_B' && !isFinal(each.status),
    )?.payin;
    if (!state || payin?.source.rail !== 'BRE_B') return this.notFound(request, reply);
    const [, data = ''] = brebQr(deps.qrNetwork, state.shop.organization, payin, payin.source.key).split(',');
    return reply
      .type('image/png')
      .headers({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-disposition': 'attachment; filename="bre-b.png"',
      })
      .send(Buffer.from(data, 'base64'));
  }

  async live(request: PageRequest, reply: FastifyReply, kind: 'link' | 'payin'): Promise<FastifyReply> {
    const { deps, shops, watch } = this.#parts;
    const find = kind === 'link' ? loadLinkCheckout : loadPayinCheckout;
    const { token } = request.params;
    const seconds = this.#liveLimits.takePoll({ token, address: request.ip });
    if (seconds !== null) return rejectLive(reply, 429, seconds);
    const state = await find(deps, shops, token);
    if (!state?.attempt) return reply.code(404).send();
    const { payin } = state.attempt;
    if (request.query['once'] !== undefined) return sendStatusOnce(reply, watch, payin);
    const endStream = watch.full ? null : this.#liveLimits.openStream({ token, address: request.ip });
    if (endStream === null) return rejectLive(reply, 503, 5);
    // The payer may have left during the query: `close` is then never emitted again.
    if (reply.raw.closed) endStream();
    else reply.raw.once('close', endStream);
    // Browsers repeat the id of the last event when they reconnect.
    const lastStamp = request.headers['last-event-id'] ?? request.query['stamp'];
    return sendLiveStatus(reply, watch, payin, {
      shownStamp: typeof lastStamp === 'string' ? lastStamp : null,
      renderScreen: async () => {
        const current = await find(deps, shops, token);
        if (!current) throw new Error('the resource of an open page does not exist');
        return renderFragment(await this.#page(request, current, null));
      },
    });
  }

  /** A URL without a page: a cut link, a pasted link, or a form target that a browser opens again. */
  async strayPage(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const path = pagePath(request);
    const pasted = pastedPath(request.query['link'] ?? '', this.#prefix);
    if (pasted !== null) return reply.redirect(pasted, 303);
    if (request.url !== path && pastedPath(path, this.#prefix) === path) return reply.redirect(path, 303);
    return this.notFound(request, reply);
  }

  errorPage(error: unknown, request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const apiError = toApiError(error);
    request.problemCode = apiError.code;
    const messages = this.#messages(request);
    const failed = apiError.entry.status >= 500;
    if (failed)
      this.#parts.deps.log.error(
        {
          requestId: request.id,
          ...traceFields(request),
          code: apiError.code,
          ...errorFields(apiError.cause ?? error),
        },
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

  async show(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    submitted: PayerForm | null,
  ): Promise<FastifyReply> {
    const page = await this.#page(request, state, submitted);
    return this.#send(request, reply, this.#messages(request), page);
  }

  async #page(request: PageRequest, state: CheckoutState, submitted: PayerForm | null): Promise<Page> {
    const { deps, banks } = this.#parts;
    const messages = this.#messages(request);
    const { token } = request.params;
    const path = `${this.#prefix}/${state.link ? 'l' : 'p'}/${token}`;
    const ownAttemptIds = this.#ownAttemptIds(request, state);
    const { offered: offeredRails, excluded: excludedRails } = offerRails(this.#parts, state);
    const screen = chooseScreen(
      state,
      readScreenInput(request, (state.link && submitted?.values) || {}, ownAttemptIds, offeredRails),
    );
    const hasForm = screen.kind === 'bank' || screen.kind === 'details';
    const form = submitted ?? (hasForm ? await this.#knownForm(state, ownAttemptIds, screen) : NO_FORM);
    const offered = screen.kind === 'bank' ? await banks.offered(state.shop) : () => true;
    const main = renderScreen(screen, {
      messages,
      shop: state.shop,
      state,
      path,
      banks: BANKS.filter((bank) => bank.available && offered(bank.networkCode)),
      form,
      offeredRails,
      excludedRails,
      receiptUrl: ({ payin }: PagePayin) => this.#receiptUrl(state.shop, payin.id),
      qrNetwork: deps.qrNetwork,
      brebReceiverName: deps.brebReceiverName,
      sendsEmail: this.#parts.sendsEmail,
    });
    const subject = state.link ?? state.attempt.payin;
    const isLive = LIVE_SCREENS.has(screen.kind);
    return {
      title: pageTitle(messages, screen, form, main),
      shop: state.shop,
      amount: subject.amount,
      reference: subject.reference,
      description: state.link?.description ?? null,
      main,
      authenticity: screen.kind === 'suspended' ? null : await this.#authenticity(messages, state),
      live: isLive && state.stamp !== null ? { url: `${path}/live`, stamp: state.stamp } : null,
      refreshSeconds: isLive ? 5 : null,
      ...(hasForm ? { languageAction: `${path}/language${screen.kind === 'bank' ? '?step=bank' : ''}` } : {}),
    };
  }

  async #authenticity(messages: Messages, { shop, link, attempt }: CheckoutState): Promise<SafeHtml> {
    const { deps, operator } = this.#parts;
    return authenticity(messages, {
      shop,
      operator: operator.name,
      createdAt: (link ?? attempt.payin).createdAt,
      host: new URL(deps.checkoutUrl).host,
      payments: await this.#paymentCounter.count(shop.organization.id),
      code: link && verificationCode(shop.secrets.hashKey, link.id),
    });
  }

  /** What this browser's payer entered in an earlier attempt. Data from the merchant is never shown in full. */
  async #knownForm(
    { shop, link }: CheckoutState,
    ownAttemptIds: readonly string[],
    screen: Screen,
  ): Promise<PayerForm> {
    if (!link || link.customer) return NO_FORM;
    const own = await loadOwnPayer(this.#parts.deps, shop, link.id, ownAttemptIds);
    const personType = screen.kind === 'details' ? screen.personType : null;
    return own ? { values: knownValues(own, personType), invalidFields: [] } : NO_FORM;
  }

  notFound(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const messages = this.#messages(request);
    const seconds = this.#unknownLimit.take(request.ip);
    const { title } = seconds === null ? messages.unknown : messages.busy;
    const status = seconds === null ? reply.code(404) : reply.code(429).header('retry-after', seconds);
    const main = seconds === null ? unknownLink(messages, this.#prefix) : html`<h1>${title}</h1>`;
    return this.#send(request, status, messages, plainPage(title, main));
  }

  retryLater(
    request: PageRequest,
    reply: FastifyReply,
    { shop, link, attempt }: CheckoutState,
    { seconds, values }: { readonly seconds: number; readonly values: Readonly<Record<string, string>> },
  ): Promise<FastifyReply> {
    const messages = this.#messages(request);
    const { amount, reference } = link ?? attempt.payin;
    return this.#send(request, reply.code(429).header('retry-after', seconds), messages, {
      ...plainPage(messages.busy.title, retryScreen(messages, request.url, { seconds, values })),
      shop,
      amount,
      reference,
    });
  }

  async #send(
    request: PageRequest,
    reply: FastifyReply,
    messages: Messages,
    page: Page,
  ): Promise<FastifyReply> {
    const { environment, checkoutUrl } = this.#parts.deps;
    const nonce = freshBytes(16).toString('base64url');
    const frame: Frame = {
      messages,
      nonce,
      otherLanguageUrl: urlInLanguage(request, messages.language === 'en' ? 'es' : 'en'),
      staging: environment !== 'production',
      operator: this.#parts.operator,
      checkoutUrl,
    };
    const language = chosenLanguage(request);
    if (language !== null && readCookies(request).get('lang') !== language)
      this.#setCookie(reply, 'lang', language);
    const text = request.headers['x-part'] === 'main' ? renderFragment(page) : renderDocument(frame, page);
    const { headers, body } = await compressPage(request.headers['accept-encoding'], text);
    return reply
      .type('text/html; charset=utf-8')
      .headers({ ...pageHeaders(nonce), ...headers })
      .send(body);
  }

  #messages(request: PageRequest): Messages {
    // Spanish unless the browser prefers English.
    return MESSAGES[chosenLanguage(request) ?? negotiateLanguage(request.headers['accept-language'], 'es')];
  }

  #receiptUrl({ organization }: Shop, payinId: string): string {
    const { receiptTokens, cell } = this.#parts.deps;
    return `${this.#prefix}/r/${receiptTokens.make({ organizationNumber: organization.number, id: payinId }, cell)}`;
  }

  isOwn(request: PageRequest, state: CheckoutState, payinId: string): boolean {
    return this.#ownAttemptIds(request, state).includes(payinId);
  }

  #ownAttemptIds(request: PageRequest, { shop, link }: CheckoutState): readonly string[] {
    return link ? ownAttempts(readCookies(request), cookieScope(shop, link.id)) : [];
  }

  rememberAttempt(
    request: PageRequest,
    reply: FastifyReply,
    { shop }: CheckoutState,
    { linkId, payinId }: { readonly linkId: string; readonly payinId: string },
  ): void {
    for (const { name, value } of rememberAttempt(readCookies(request), cookieScope(shop, linkId), payinId))
      this.#setCookie(reply, name, value);
  }

  #setCookie(reply: FastifyReply, name: string, value: string): void {
    const secure = this.#parts.deps.checkoutUrl.startsWith('https:');
    void reply.header('set-cookie', cookieText({ name, value }, { secure, path: `${this.#prefix}/` }));
  }

  /** Path only, so that the redirect stays on the host of the request. */
  #relativeUrl(url: URL): string {
    return url.pathname + url.search;
  }
}

function cookieScope({ secrets }: Shop, linkId: string): CookieScope {
  return { linkId, hashKey: secrets.hashKey };
}

/** Titles of forms with errors start with that, for screen readers. The key screen has one heading per kind of device. */
function pageTitle(messages: Messages, { kind }: Screen, form: PayerForm, main: Page['main']): string {
  const title = kind === 'key' ? messages.start.title : firstHeading(main.toString());
  return form.invalidFields.length > 0 ? formatMessage(messages.details.wrongTitle, { title }) : title;
}

function firstHeading(main: string): string {
  return /<h1>([^<]*)/.exec(main)?.[1] ?? '';
}
