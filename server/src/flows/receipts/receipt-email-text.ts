import type { Mail } from '../../receipts/mailer.ts';
import { formatReceiptCode } from '../../receipts/receipt-code.ts';
import type { Receipt } from './issue-receipt.ts';

const TEXTS = {
  es: {
    subject: 'Comprobante de pago: {amount} a {shop}',
    test: 'PRUEBA',
    testNote: 'Este es un comprobante de prueba: no se movió dinero real.',
    received: '{shop} recibió su pago de {amount} COP.',
    reference: 'Referencia',
    code: 'Código de verificación',
    open: 'Ver el comprobante',
    why: 'Recibe este correo porque alguien escribió su dirección en la página de este pago. Ya no la guardamos.',
  },
  en: {
    subject: 'Payment receipt: {amount} to {shop}',
    test: 'TEST',
    testNote: 'This is a test receipt: no real money moved.',
    received: '{shop} received your payment of {amount} COP.',
    reference: 'Reference',
    code: 'Verification code',
    open: 'See the receipt',
    why: 'You receive this e-mail because someone typed your address on the page of this payment. We no longer store it.',
  },
} as const;

interface EmailInput {
  readonly receipt: Receipt;
  readonly url: string;
  readonly language: 'es' | 'en';
  readonly isTest: boolean;
}

/** The e-mail with the link to a receipt, as text and as HTML. It contains no data of the payer. */
export function receiptEmail({ receipt, url, language, isTest }: EmailInput): Omit<Mail, 'to'> {
  const texts = TEXTS[language];
  const fill = (text: string) =>
    text
      .replace('{amount}', pesosText(receipt.amount))
      .replace('{shop}', () => receipt.shop.organization.name);
  const facts = [
    [texts.reference, receipt.payin.reference],
    [texts.code, formatReceiptCode(receipt.code)],
  ] as const;
  const lines = [...(isTest ? [texts.testNote] : []), fill(texts.received)];
  return {
    subject: (isTest ? `[${texts.test}] ` : '') + fill(texts.subject),
    text: [
      ...lines,
      '',
      ...facts.map(([label, value]) => `${label}: ${value}`),
      '',
      `${texts.open}: ${url}`,
      '',
      texts.why,
      '',
    ].join('\n'),
    html: `<!doctype html><html lang="${language}"><body style="font-family:sans-serif;font-size:16px;line-height:1.5;color:#0f172a">
${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}
<p>${facts.map(([label, value]) => `${escapeHtml(label)}: <strong>${escapeHtml(value)}</strong>`).join('<br>')}</p>
<p><a href="${escapeHtml(url)}">${escapeHtml(texts.open)}</a></p>
<p style="color:#475569;font-size:14px">${escapeHtml(texts.why)}</p>
</body></html>
`,
  };
}

/** `$ 49.800`, as on the checkout pages. */
function pesosText(amount: bigint): string {
  const whole = (amount / 100n).toString().replace(/\B(?=(\d{3})+$)/g, '.');
  const rest = amount % 100n;
  return `$ ${whole}${rest === 0n ? '' : `,${rest.toString().padStart(2, '0')}`}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
