import type { FastifyReply } from 'fastify';
import { attachPayer } from '../../flows/payment-links/attach-payer.ts';
import {
  type CheckoutState,
  loadLinkCheckout,
  loadPayinCheckout,
} from '../../flows/payment-links/load-checkout.ts';
import { type Method, openAttempt } from '../../flows/payment-links/open-attempt.ts';
import type { CheckoutParts } from './checkout-parts.ts';
import { isCrossSite } from './cross-site.ts';
import { FixedWindowLimit } from './fixed-window-limit.ts';
import { offerRails } from './offered-rails.ts';
import { type PageRequest, pagePath, parseMethod, toAuthorization } from './page-request.ts';
import { pickFields, readPayer } from './payer-form.ts';
import { DETAIL_FIELDS, type PayerForm } from './render-context.ts';

/** The pages that a form leads to. */
export interface FormPages {
  show(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    form: PayerForm | null,
  ): Promise<FastifyReply>;
  notFound(request: PageRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** Repeats the form after a while. */
  retryLater(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    retry: { readonly seconds: number; readonly values: Readonly<Record<string, string>> },
  ): Promise<FastifyReply>;
  /** Whether this browser started the attempt. */
  isOwn(request: PageRequest, state: CheckoutState, payinId: string): boolean;
  rememberAttempt(
    request: PageRequest,
    reply: FastifyReply,
    state: CheckoutState,
    attempt: { readonly linkId: string; readonly payinId: string },
  ): void;
}

const FORM_FIELDS = [...DETAIL_FIELDS, 'method', 'm', 'bank', 'personType'];

/** Forms per payment: more than a payer needs. Payers share addresses, so only a payment limits them. */
const FORMS_PER_PAYMENT = { limit: 20, windowMs: 600_000 };
/** Rejected forms per address. Behind one address thousands of payers make mistakes; a program makes more. */
const REJECTED_FORMS_PER_ADDRESS = { limit: 300, windowMs: 60_000 };

/** Handles the forms of the payer pages. */
export class CheckoutForms {
  readonly #parts: CheckoutParts;
  readonly #pages: FormPages;
  readonly #paymentLimit = new FixedWindowLimit(FORMS_PER_PAYMENT.limit, FORMS_PER_PAYMENT.windowMs);
  readonly #rejectionLimit = new FixedWindowLimit(
    REJECTED_FORMS_PER_ADDRESS.limit,
    REJECTED_FORMS_PER_ADDRESS.windowMs,
  );

  constructor(parts: CheckoutParts, pages: FormPages) {
    this.#parts = parts;
    this.#pages = pages;
  }

  async startAttempt(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collectionStarter } = this.#parts;
    const state = await loadLinkCheckout(deps, shops, request.params.token);
    if (!state?.link) return this.#pages.notFound(request, reply);
    const path = pagePath(request);
    if (this.#isCrossSite(request)) return reply.redirect(path, 303);
    const values = pickFields(request.body, FORM_FIELDS);
    const seconds = this.#paymentLimit.take(state.link.id);
    if (seconds !== null) return this.#pages.retryLater(request, reply, state, { seconds, values });
    const method = parseMethod(values);
    // Rail pauses arrive with the heartbeat: if it is late, wait for it, so that a pause takes effect within a second.
    await deps.clock.whenFresh();
    if (!method || !this.#isOffered(state, method)) return reply.redirect(path, 303);
    // Bre-B needs no data of the payer.
    const parsed =
      method.rail === 'PSE' && !state.link.customer ? readPayer(values, method.personType) : null;
    if (parsed && 'invalidFields' in parsed)
      return this.#reject(request, reply, state, { values, invalidFields: parsed.invalidFields });
    const payin = await openAttempt(deps, collectionStarter, {
      ...state.shop,
      linkId: state.link.id,
      description: state.link.description,
      method,
      customer: parsed?.customer ?? state.link.customer,
      authorization: parsed ? toAuthorization(request) : null,
    });
    // Null: another attempt was faster, the link ended or the shop is suspended. The page shows which.
    if (payin) {
      request.created = { payinId: payin.id, paymentLinkId: state.link.id };
      this.#pages.rememberAttempt(request, reply, state, { linkId: state.link.id, payinId: payin.id });
    }
    return reply.redirect(payin ? `${path}?go=1` : path, 303);
  }

  /** Switches to another method. The payer's own Bre-B key is closed, so that the payer cannot pay twice. */
  async changeMethod(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const state = await loadLinkCheckout(this.#parts.deps, this.#parts.shops, request.params.token);
    if (!state?.link) return this.#pages.notFound(request, reply);
    const path = pagePath(request);
    if (this.#isCrossSite(request)) return reply.redirect(path, 303);
    const seconds = this.#paymentLimit.take(state.link.id);
    if (seconds !== null) return this.#pages.retryLater(request, reply, state, { seconds, values: {} });
    await this.#closeOwnKey(request, state);
    // Not the choice of methods: the key may be closed by then, and Bre-B would be offered again.
    const selection = this.#isOffered(state, { rail: 'PSE' }) ? 'm=PSE' : 'again=1';
    return reply.redirect(`${path}?${selection}`, 303);
  }

  /** The details of the payer of a payin without a link. */
  async submitPayer(request: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { deps, shops, collectionStarter } = this.#parts;
    const state = await loadPayinCheckout(deps, shops, request.params.token);
    if (!state?.attempt) return this.#pages.notFound(request, reply);
    const path = pagePath(request);
    const { id, source } = state.attempt.payin;
    if (this.#isCrossSite(request) || source.rail !== 'PSE') return reply.redirect(path, 303);
    const values = pickFields(request.body, DETAIL_FIELDS);
    const seconds = this.#paymentLimit.take(id);
    if (seconds !== null) return this.#pages.retryLater(request, reply, state, { seconds, values });
    const parsed = readPayer(values, source.personType);
    if ('invalidFields' in parsed)
      return this.#reject(request, reply, state, { values, invalidFields: parsed.invalidFields });
    await attachPayer(deps, collectionStarter, state.shop, id, parsed.customer, toAuthorization(request));
    return reply.redirect(`${path}?go=1`, 303);
  }

  /** Shows the form in the other language with everything typed so far. A POST, because URLs must not contain it. */
  async switchLanguage(
    request: PageRequest,
    reply: FastifyReply,
    kind: 'link' | 'payin',
  ): Promise<FastifyReply> {
    const { deps, shops } = this.#parts;
    const load = kind === 'link' ? loadLinkCheckout : loadPayinCheckout;
    const state = await load(deps, shops, request.params.token);
    if (!state) return this.#pages.notFound(request, reply);
    if (this.#isCrossSite(request)) return reply.redirect(pagePath(request), 303);
    const values = pickFields(request.body, FORM_FIELDS);
    return this.#pages.show(request, reply, state, { values, invalidFields: [] });
  }

  #reject(request: PageRequest, reply: FastifyReply, state: CheckoutState, form: PayerForm) {
    const seconds = this.#rejectionLimit.take(request.ip);
    if (seconds === null) return this.#pages.show(request, reply.code(422), state, form);
    return this.#pages.retryLater(request, reply, state, { seconds, values: form.values });
  }

  /** Another browser may be paying a key that it started, so only that browser can close it. */
  async #closeOwnKey(request: PageRequest, state: CheckoutState): Promise<void> {
    const key = state.attempts.find(({ payin }) => payin.id === state.link?.openBrebPayinId);
    if (key && this.#pages.isOwn(request, state, key.payin.id))
      await this.#parts.expediter.abandonAttempt(key.payin);
  }

  #isCrossSite(request: PageRequest): boolean {
    return isCrossSite(request, this.#parts.deps.checkoutUrl);
  }

  #isOffered(state: CheckoutState, { rail }: Pick<Method, 'rail'>): boolean {
    return offerRails(this.#parts, state).offered.includes(rail);
  }
}
