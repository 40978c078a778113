import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Deps } from '../../deps.ts';
import { loadReceipt, type PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { issueReceipt, type Receipt } from '../../flows/receipts/issue-receipt.ts';
import type { Shops } from '../../organizations/shops.ts';
import type { Page } from './layout.ts';
import type { Messages } from './messages.ts';
import type { PageRequest } from './page-request.ts';
import { receiptPage } from './receipt.ts';
import { receiptContent } from './receipt-content.ts';
import { receiptPdf } from './receipt-pdf.ts';

/** What the receipt pages take from the checkout pages. */
export interface ReceiptParts {
  readonly deps: Deps;
  readonly shops: Shops;
  readonly prefix: string;
  readonly messages: (request: PageRequest) => Messages;
  readonly send: (
    request: PageRequest,
    reply: FastifyReply,
    messages: Messages,
    page: Page,
  ) => Promise<FastifyReply>;
  readonly notFound: (request: PageRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

/** Registers the receipt as a page and as a PDF file. */
export function registerReceipts(scope: FastifyInstance, parts: ReceiptParts): void {
  const path = `${parts.prefix}/r/:token`;
  scope.get(path, (request, reply) => showReceipt(parts, request as PageRequest, reply));
  scope.get(`${path}.pdf`, (request, reply) => sendPdf(parts, request as PageRequest, reply));
}

async function showReceipt(
  parts: ReceiptParts,
  request: PageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const found = await findReceipt(parts, request);
  if (!found) return parts.notFound(request, reply);
  const messages = parts.messages(request);
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
      email: null,
    }),
  );
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
