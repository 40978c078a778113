import type { SuspendedMoney } from '../../flows/payment-links/load-checkout.ts';
import type { Receipt } from '../../flows/receipts/issue-receipt.ts';
import { formatReceiptCode } from '../../receipts/receipt-code.ts';
import { bogotaTime, groupedKey, moneyText } from './format.ts';
import { formatMessage } from './messages.ts';
import { type ReceiptMessages, receiptMessages } from './receipt-messages.ts';
import { bankName } from './render-context.ts';

type ReceiptRow = readonly [label: string, value: string];

/** What a receipt says, the same on the page and in the PDF file. It contains no data of the payer. */
export interface ReceiptContent {
  readonly messages: ReceiptMessages;
  readonly language: string;
  readonly paid: boolean;
  readonly stamp: string;
  readonly testMark: string | null;
  readonly note: string | null;
  readonly rows: readonly ReceiptRow[];
  readonly code: string;
  readonly verify: string;
  /** Content of the QR code; null if the money was returned. */
  readonly qrText: string | null;
}

interface Input {
  readonly receipt: Receipt;
  /** Money beyond the amount, which the receipt does not certify. */
  readonly excess: readonly SuspendedMoney[];
  readonly language: string;
  readonly isTest: boolean;
  readonly checkoutUrl: string;
}

export function receiptContent({ receipt, excess, language, isTest, checkoutUrl }: Input): ReceiptContent {
  const messages = receiptMessages(language);
  const { origin, host } = new URL(checkoutUrl);
  return {
    messages,
    language,
    paid: receipt.state === 'confirmed',
    stamp: messages.stamps[receipt.state],
    testMark: isTest ? messages.test : null,
    note: messages.notes[receipt.state],
    rows: receiptRows(receipt, excess, language, messages),
    code: formatReceiptCode(receipt.code),
    verify: formatMessage(messages.verify, { host: `${host}/verificar` }),
    qrText: receipt.signed === null ? null : `${origin}/verificar#${receipt.signed}`,
  };
}

function receiptRows(
  { shop, payin, amount, description, paidAt, trace, legalName, taxId }: Receipt,
  excess: readonly SuspendedMoney[],
  language: string,
  messages: ReceiptMessages,
): ReceiptRow[] {
  const { source } = payin;
  const excessAmount = excess.reduce((sum, money) => sum + money.amount, 0n);
  const rows: (readonly [label: string, value: string | null])[] = [
    [messages.amount, `${moneyText(amount)} COP`],
    [messages.excess, excessAmount > 0n ? `${moneyText(excessAmount)} COP` : null],
    [messages.description, description],
    [messages.shop, shop.organization.name],
    [messages.legalName, legalName],
    [messages.taxId, taxId],
    [messages.dateAndTime, bogotaTime(paidAt, language)],
    [messages.reference, payin.reference],
    [messages.paidWith, source.rail === 'PSE' ? `PSE · ${bankName(source.bank)}` : 'Bre-B'],
    [messages.key, source.rail === 'BRE_B' ? groupedKey(source.key) : null],
    [source.rail === 'PSE' ? messages.cus : messages.trace, trace],
  ];
  return rows.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}
