import type { Rail } from '../rails/contract.ts';
import { encodeBase32 } from './base32.ts';

/** The facts that a receipt certifies. None of them is personal data of the payer. */
export interface ReceiptFacts {
  /** Host of the deployment that signed. */
  readonly host: string;
  /** `test`: no real money moved. */
  readonly environment: 'test' | 'live';
  readonly keyId: string;
  /** Receipt code, which identifies the receipt. */
  readonly code: string;
  readonly shop: string;
  /** NIT of the shop. */
  readonly taxId: string | null;
  readonly amountInCents: bigint;
  readonly currency: string;
  readonly paidAt: Date;
  /** The merchant's reference. */
  readonly reference: string;
  readonly rail: Rail;
  /** The rail's number of the payment, which the payer's bank knows: end-to-end id (Bre-B) or CUS (PSE). */
  readonly trace: string | null;
  readonly signedAt: Date;
}

/** The facts as read from text, before any check of the signature. */
export interface DecodedReceipt {
  readonly facts: ReceiptFacts;
  /** The bytes that the signature covers. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** Names and references may be long; the QR code has to stay readable. */
const MAX_TEXT_BYTES = 60;

/**
 * Canonical bytes: the version `1`, then each field as UTF-8 with its length in one byte before it, in this order. Two
 * receipts with the same facts have the same bytes.
 */
export function encodeFacts(facts: ReceiptFacts): Buffer {
  const fields = [
    '1',
    facts.host,
    facts.environment,
    facts.keyId,
    facts.code,
    shorten(facts.shop),
    facts.taxId ?? '',
    facts.amountInCents.toString(),
    facts.currency,
    seconds(facts.paidAt),
    shorten(facts.reference),
    facts.rail,
    facts.trace ?? '',
    seconds(facts.signedAt),
  ];
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      if (bytes.length > 255) throw new RangeError('a receipt field has at most 255 bytes');
      return [Buffer.of(bytes.length), bytes];
    }),
  );
}

/** The text in the QR code: facts, then the signature of 64 bytes. */
export function encodeReceipt(signed: Buffer, signature: Buffer): string {
  return encodeBase32(Buffer.concat([signed, signature]));
}

/**
 * Reads the text of a QR code. The page of `/verificar` runs the source text of this function: it must not refer to
 * anything outside of itself.
 * @returns null if the text is not a receipt of version 1
 */
export function decodeReceipt(
  text: string,
  decodeBase32: (text: string) => Uint8Array | null,
): DecodedReceipt | null {
  const bytes = decodeBase32(text);
  if (!bytes || bytes.length < 65) return null;
  const signed = bytes.slice(0, bytes.length - 64);
  const fields: string[] = [];
  try {
    for (let at = 0; at < signed.length; at += 1 + (signed[at] ?? 0)) {
      const field = signed.slice(at + 1, at + 1 + (signed[at] ?? 0));
      if (field.length !== signed[at]) return null;
      fields.push(new TextDecoder('utf-8', { fatal: true }).decode(field));
    }
  } catch {
    return null;
  }
  const [version, host = '', environment, keyId = '', code = '', shop = '', taxId, amount = ''] = fields;
  const [currency = '', paidAt = '', reference = '', rail, trace, signedAt = ''] = fields.slice(8);
  const isNumber = (digits: string) => /^\d{1,15}$/.test(digits);
  if (fields.length !== 14 || version !== '1') return null;
  if (![amount, paidAt, signedAt].every(isNumber)) return null;
  if (environment !== 'test' && environment !== 'live') return null;
  if (rail !== 'BRE_B' && rail !== 'PSE') return null;
  return {
    facts: {
      host,
      environment,
      keyId,
      code,
      shop,
      taxId: taxId || null,
      amountInCents: BigInt(amount),
      currency,
      paidAt: new Date(Number(paidAt) * 1000),
      reference,
      rail,
      trace: trace || null,
      signedAt: new Date(Number(signedAt) * 1000),
    },
    signed,
    signature: bytes.slice(bytes.length - 64),
  };
}

function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000));
}

/** Cuts between characters and marks the cut. */
function shorten(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > MAX_TEXT_BYTES - 3) break;
    kept += character;
  }
  return `${kept}…`;
}
