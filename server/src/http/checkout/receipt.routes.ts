import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { loadReceipt, type PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { issueReceipt, type Receipt } from '../../flows/receipts/issue-receipt.ts';
import { queueReceiptEmail } from '../../flows/receipts/queue-receipt-email.ts';
import { fingerprint } from '../../kit/crypto.ts';
import type { Shops } from '../../organizations/shops.ts';
import { clientNetwork } from '../verify/client-network.ts';
import { FixedWindowLimit } from './fixed-window-limit.ts';
import type { Page } from './layout.ts';
import type { Messages } from './messages.ts';
import type { PageRequest } from './page-request.ts';
import { pickFields } from './payer-form.ts';
import { receiptPage } from './receipt.ts';
import { receiptContent } from './receipt-content.ts';
import type { EmailForm } from './receipt-email-form.ts';
import { receiptPdf } from './receipt-pdf.ts';

/** What the receipt pages take from the checkout pages. */
export interface ReceiptParts {
  readonly deps: Deps;
  readonly shops: Shops;
  readonly prefix: string;
  readonly sendsEmail: boolean;
  readonly messages: (request: PageRequest) => Messages;
  readonly send: (
    request: PageRequest,
    reply: FastifyReply,
    messages: Messages,
    page: Page,
  ) => Promise<FastifyReply>;
  readonly notFound: (request: PageRequest, reply: FastifyReply) => Promise<FastifyReply>;
  readonly isCrossSite: (request: PageRequest) => boolean;
}

/** E-mails to one address, and from one network, per hour. The database limits them per receipt. */
const EMAILS_PER_ADDRESS = 5;
const EMAILS_PER_NETWORK = 60;
const HOUR_MS = 3_600_000;

const emailAddress = z.email().max(254);

/** Registers the receipt as a page and as a PDF file, and the form that sends it by e-mail. */
export function registerReceipts(scope: FastifyInstance, parts: ReceiptParts): void {
  const path = `${parts.prefix}/r/:token`;
  scope.get(path, (request, reply) => showReceipt(parts, request as PageRequest, reply));
  scope.get(`${path}.pdf`, (request, reply) => sendPdf(parts, request as PageRequest, reply));
  if (!parts.sendsEmail) return;
  const limits = {
    address: new FixedWindowLimit(EMAILS_PER_ADDRESS, HOUR_MS),
    network: new FixedWindowLimit(EMAILS_PER_NETWORK, HOUR_MS),
  };
  scope.post(`${path}/email`, (request, reply) => submitEmail(parts, limits, request as PageRequest, reply));
}

async function showReceipt(
  parts: ReceiptParts,
  request: PageRequest,
  reply: FastifyReply,
  submitted: Pick<EmailForm, 'state' | 'typed'> | null = null,
): Promise<FastifyReply> {
  const found = await findReceipt(parts, request);
  if (!found) return parts.notFound(request, reply);
  const messages = parts.messages(request);
  const state = request.query['sent'] === undefined ? 'empty' : 'sent';
  const path = `${parts.prefix}/r/${request.params.token}`;
  return parts.send(
    request,
    reply,
    messages,
    receiptPage({
      shop: found.receipt.shop,
      amount: found.receipt.amount,
      content: toContent(parts, found, messages),
      url: new URL(path, parts.deps.checkoutUrl).href,
      pdfUrl: `${path}.pdf?lang=${messages.language.slice(0, 2)}`,
      email: parts.sendsEmail ? { action: `${path}/email`, ...(submitted ?? { state, typed: '' }) } : null,
    }),
  );
}

interface EmailLimits {
  readonly address: FixedWindowLimit;
  readonly network: FixedWindowLimit;
}

/** Queues the e-mail. The answer is the same whether or not the address exists. */
async function submitEmail(
  parts: ReceiptParts,
  limits: EmailLimits,
  request: PageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const path = `${parts.prefix}/r/${request.params.token}`;
  if (parts.isCrossSite(request)) return reply.redirect(path, 303);
  const found = await findReceipt(parts, request);
  if (!found) return parts.notFound(request, reply);
  const typed = (pickFields(request.body, ['email'])['email'] ?? '').trim();
  const { data: address } = emailAddress.safeParse(typed);
  if (address === undefined) return showReceipt(parts, request, reply.code(422), { state: 'invalid', typed });
  const language = parts.messages(request).language.startsWith('en') ? 'en' : 'es';
  const isAllowed =
    limits.network.take(clientNetwork(request.ip)) === null &&
    limits.address.take(fingerprint(address.toLowerCase())) === null;
  const { shop, payin } = found.receipt;
  if (!isAllowed || !(await queueReceiptEmail(parts.deps, shop, payin.id, address, language)))
    return showReceipt(parts, request, reply.code(429), { state: 'limited', typed: '' });
  return reply.redirect(`${path}?sent=1`, 303);
}

async function sendPdf(
  parts: ReceiptParts,
  request: PageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const found = await findReceipt(parts, request);
  if (!found) return parts.notFound(request, reply);
  const content = toContent(parts, found, parts.messages(request));
  return reply
    .type('application/pdf')
    .headers({
      'content-disposition': `inline; filename="${content.messages.file}-${content.code}.pdf"`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
    })
    .send(receiptPdf(content));
}

interface FoundReceipt {
  readonly receipt: Receipt;
  readonly attempt: PagePayin;
}

async function findReceipt(
  { deps, shops }: ReceiptParts,
  request: PageRequest,
): Promise<FoundReceipt | null> {
  const state = await loadReceipt(deps, shops, request.params.token);
  const receipt = state && (await issueReceipt(deps, state));
  return receipt && state.attempt ? { receipt, attempt: state.attempt } : null;
}

function toContent({ deps }: ReceiptParts, { receipt, attempt }: FoundReceipt, { language }: Messages) {
  return receiptContent({
    receipt,
    excess: attempt.suspended,
    language,
    isTest: deps.environment !== 'production',
    checkoutUrl: deps.checkoutUrl,
  });
}
