import { hash } from 'node:crypto';
import { printableAscii } from '../../kit/ascii.ts';
import { cents, decimalPesos, MAX_AMOUNT_IN_CENTS } from '../../kit/money.ts';

// The payload of a Bre-B QR code: industry standard "Campos QR Code EMVCo" v1.4-2025.
// It is a sequence of fields: a two-digit tag, a two-digit length and the value. The value of a template
// is again such a sequence. Everything is printable ASCII, so one character is one byte.

export interface BrebQrInput {
  /** Alphanumeric key including the `@`: the only key type we generate. */
  readonly key: string;
  readonly amountInCents: bigint;
  /** The `<RED>` of the template names (`CO.COM.<RED>.LLA`): the sponsoring network, configuration. */
  readonly network: string;
  readonly networkId: string;
  readonly merchantName: string;
  readonly merchantCity: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
  readonly reference: string;
  readonly transactionId: string;
}

/** Computes the security hash of tag 91 from the text of all preceding fields. */
type QrHash = (precedingFields: string) => string;

const DYNAMIC = '12';
const PESO = '170';
const ALPHANUMERIC_KEY_SUBTAG = '04';
const TERMINAL = '000';
const PURCHASE = '00';
/** One digit each: shown on a web site (5), remote commerce (2), unattended (1). */
const ORIGIN_CHANNEL = '521';
/** Condition 03 with value zero: the amount includes no VAT (IVA) and no consumption tax (INC). */
const NO_TAX_CONDITION = '03';

/**
 * The standard requires a SHA-256 in tag 91, but does not define its input. Until a network specifies it, we hash
 * all fields except 91 and 63, unkeyed, in lower-case hexadecimal. The only implementer that documents its choice
 * does the same, which is why 91 is the next-to-last field. Codes from Redeban have 24 base64 characters there that
 * no plain hash we tried reproduces: a network may require its own hash.
 */
const sha256Hex: QrHash = (precedingFields) => hash('sha256', precedingFields, 'hex');

/**
 * Names and the reference come from merchants, so they are transliterated and truncated. The key, the transaction
 * id and the configuration determine where the money goes: invalid ones throw a RangeError, because a truncated id
 * would identify another payment.
 */
export function brebQrPayload(input: BrebQrInput, securityHash: QrHash = sha256Hex): string {
  const { key, network, networkId, merchantCategory, transactionId } = input;
  requireOnly('key', key.startsWith('@') ? key.slice(1) : '', [1, 20], isUpperAlphanumeric);
  // Tag 91 has 99 characters: 83 for its framing and the hash, which leaves 16 for the network name.
  requireOnly('network', network, [1, 16], isUpperAlphanumeric);
  requireOnly('networkId', networkId, [1, 16], isUpperAlphanumeric);
  requireOnly('merchantCategory', merchantCategory, [4, 4], isDigit);
  requireOnly('transactionId', transactionId, [1, 19], isIdCharacter);

  const scope = `CO.COM.${network}.`;
  const reference = printableAscii(input.reference, 25);
  const fields =
    field('00', '01') +
    field('01', DYNAMIC) +
    field('26', field('00', `${scope}LLA`) + field(ALPHANUMERIC_KEY_SUBTAG, key)) +
    field('49', field('00', `${scope}RED`) + field('01', networkId)) +
    field('52', merchantCategory) +
    field('53', PESO) +
    field('54', amountText(input.amountInCents)) +
    field('58', 'CO') +
    field('59', printableAscii(input.merchantName, 25) || 'COMERCIO') +
    field('60', printableAscii(input.merchantCity, 15) || 'COLOMBIA') +
    field('61', printableAscii(input.postalCode, 10) || '000000') +
    field(
      '62',
      // The label is optional, but must not be empty: an empty reference omits the subtag.
      (reference === '' ? '' : field('05', reference)) +
        field('07', TERMINAL) +
        field('08', PURCHASE) +
        field('11', ORIGIN_CHANNEL),
    ) +
    field('80', field('00', `${scope}CANAL`) + field('01', 'ECOMM')) +
    field('81', field('00', `${scope}CIVA`) + field('01', NO_TAX_CONDITION)) +
    field('82', field('00', `${scope}IVA`) + field('01', '0')) +
    field('83', field('00', `${scope}BASE`) + field('01', '0')) +
    field('84', field('00', `${scope}CINC`) + field('01', NO_TAX_CONDITION)) +
    field('85', field('00', `${scope}INC`) + field('01', '0')) +
    field('90', field('00', `${scope}TRXID`) + field('01', transactionId));

  // The checksum covers its own tag and length.
  const summed = `${fields}${field('91', field('00', `${scope}SEC`) + field('01', securityHash(fields)))}6304`;
  return summed + crc16(summed);
}

/** Parses one level of fields in their order; call it again for the value of a template. */
export function parseTlv(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const tag = text.slice(at, at + 2);
    const lengthText = text.slice(at + 2, at + 4);
    if (tag.length !== 2 || !consistsOf(tag, isDigit)) throw malformed('tag of two digits expected', at);
    if (lengthText.length !== 2 || !consistsOf(lengthText, isDigit)) {
      throw malformed('length of two digits expected', at + 2);
    }
    const length = Number(lengthText);
    if (length === 0) throw malformed('empty value', at + 2);
    if (at + 4 + length > text.length) throw malformed('value shorter than its length', at + 4);
    if (fields.has(tag)) throw malformed(`tag ${tag} repeated`, at);
    fields.set(tag, text.slice(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

/** CRC-16/CCITT-FALSE of ASCII text, as four upper-case hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (let i = 0; i < text.length; i += 1) {
    // The index is a byte, so the table always has it; `?? 0` is for the compiler.
    crc = ((crc << 8) & 0xffff) ^ (CRC_TABLE[(crc >> 8) ^ (text.charCodeAt(i) & 0xff)] ?? 0);
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

function field(tag: string, value: string): string {
  const { length } = value;
  if (length < 1 || length > 99) throw new RangeError(`tag ${tag}: ${length} characters do not fit`);
  return length < 10 ? `${tag}0${length}${value}` : `${tag}${length}${value}`;
}

/** Omits the decimals of whole pesos: fewer characters, and the usual format for payers. */
function amountText(amountInCents: bigint): string {
  if (amountInCents < 1n || amountInCents > MAX_AMOUNT_IN_CENTS) {
    throw new RangeError('amountInCents: out of range for a QR code');
  }
  const text = decimalPesos(cents(amountInCents));
  return text.endsWith('.00') ? text.slice(0, -3) : text;
}

function requireOnly(
  name: string,
  text: string,
  [lengthMin, lengthMax]: readonly [number, number],
  accepts: (code: number) => boolean,
): void {
  if (text.length < lengthMin || text.length > lengthMax || !consistsOf(text, accepts)) {
    // Omits the value: error messages are logged, and keys must not be.
    throw new RangeError(
      `${name}: must have ${lengthMin} to ${lengthMax} of the characters allowed in a QR code`,
    );
  }
}

function consistsOf(text: string, accepts: (code: number) => boolean): boolean {
  for (let i = 0; i < text.length; i += 1) if (!accepts(text.charCodeAt(i))) return false;
  return true;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isUpperAlphanumeric = (code: number): boolean => isDigit(code) || (code >= 0x41 && code <= 0x5a);
/** Letters, digits, `-` and `_`, as in the ids of the networks' codes. */
const isIdCharacter = (code: number): boolean =>
  isUpperAlphanumeric(code) || (code >= 0x61 && code <= 0x7a) || code === 0x2d || code === 0x5f;

const malformed = (what: string, at: number): RangeError => new RangeError(`${what} at character ${at}`);
