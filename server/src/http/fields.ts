import { z } from 'zod';
import { type Customer, ID_TYPES } from '../customers/customer.ts';
import { cents, MAX_AMOUNT_IN_CENTS } from '../kit/money.ts';
import { parseTaxId } from '../kit/tax-id.ts';
import { readReceiverKey } from '../payouts/receiver-key.ts';
import { isPlainText, isPlainTextWithEmoji } from './plain-text.ts';

/** Our own field error codes, carried by zod's custom issues. validation.ts has a message for each. */
export type FieldCode =
  | 'duplicate_field'
  | 'invalid_characters'
  | 'invalid_breb_key'
  | 'invalid_document'
  | 'invalid_metadata_key'
  | 'not_for_this_rail'
  | 'reserved_header'
  | 'one_or_the_other'
  | 'required'
  | 'too_deep'
  | 'too_many_fields'
  | 'too_many_pairs'
  | 'unsupported_bank';

/** Codes of URL fields. Their message depends on the rule that is broken. */
export type UrlFieldCode = 'invalid_url' | 'invalid_webhook_url';

/** Formats that zod does not know; validation.ts has a message `format.…` for each. */
export type FormatName = 'phone' | 'integer' | 'header_name' | 'header_value';

export function fieldIssue(code: FieldCode): { params: { code: FieldCode } } {
  return { params: { code } };
}

/** Names the format that a regular expression checks, so that the error message can describe it. */
export function formatIssue(name: FormatName): { error: string } {
  return { error: `format.${name}` };
}

/** One line of text that is compared, such as a reference: two that look the same are the same. */
export function text(min: number, max: number) {
  return z.string().min(min).max(max).refine(isPlainText, fieldIssue('invalid_characters'));
}

/** One line of text that people read, such as a name or a description. It may contain complete emoji. */
export function freeText(min: number, max: number) {
  return z.string().min(min).max(max).refine(isPlainTextWithEmoji, fieldIssue('invalid_characters'));
}

export const amountInCents = z
  .int()
  .min(1)
  .max(MAX_AMOUNT_IN_CENTS)
  .describe('Amount in cents (1 peso = 100 cents).')
  .meta({ example: 4_980_000 });
/** A receiver's Bre-B key. The parsed value is normalized. */
export const receiverKey = z
  .string()
  .max(200)
  .transform((typed, context) => {
    const read = readReceiverKey(typed);
    if (read) return read.key;
    context.addIssue({ code: 'custom', ...fieldIssue('invalid_breb_key') });
    return z.NEVER;
  });
export const currency = z.literal('COP').describe('Always `COP`.');
export const reference = text(1, 255)
  .describe('Your own identifier. It must be unique within your organization and cannot be reused.')
  .meta({ example: 'order-1001' });
export const timestamp = z.iso.datetime({ precision: 3 }).describe('UTC, with milliseconds.');

/**
 * Possible formats of document numbers. The rules reject only numbers that cannot exist. A NIT may come with or without
 * its check digit; the check digit can be verified only if a hyphen separates it.
 */
const DOCUMENTS: Readonly<Record<(typeof ID_TYPES)[number], RegExp>> = {
  CO_CC: /^\d{3,10}$/,
  CO_CE: /^[0-9A-Za-z]{3,12}$/,
  CO_NIT: /^\d{6,11}(?:-\d)?$/,
  MXN_RFC: /^[A-ZÑ&]{3,4}\d{6}[A-Z0-9]{3}$/i,
  PASSPORT: /^[0-9A-Za-z]{3,12}$/,
};

function isPossibleDocument(idType: (typeof ID_TYPES)[number], idNumber: string): boolean {
  if (!DOCUMENTS[idType].test(idNumber)) return false;
  if (idType !== 'CO_NIT' || !idNumber.includes('-')) return true;
  return parseTaxId(idNumber) !== null;
}

export const customer = z
  .strictObject({
    name: freeText(1, 120).describe('Full name.').meta({ example: 'Ana María Rojas' }),
    idType: z.enum(ID_TYPES).describe('Type of identification document.'),
    idNumber: z.string().min(3).max(20).describe('Document number.').meta({ example: '1020304050' }),
    phone: z
      .string()
      .regex(/^\+[1-9]\d{6,14}$/, formatIssue('phone'))
      .describe('International format with a leading plus sign.')
      .meta({ example: '+573001234567' }),
    email: z.email().max(254).describe('E-mail address.').meta({ example: 'ana@example.com' }),
  })
  .refine((value) => isPossibleDocument(value.idType, value.idNumber), {
    path: ['idNumber'],
    ...fieldIssue('invalid_document'),
  })
  .meta({ id: 'Customer' });

const MAX_METADATA_PAIRS = 20;

/** zod drops the key `__proto__` from a record without an error, so it is rejected before. */
function rejectPrototypeKey(value: unknown, context: z.RefinementCtx): unknown {
  if (Object.hasOwn(Object(value) as object, '__proto__'))
    context.addIssue({ code: 'custom', path: ['__proto__'], ...fieldIssue('invalid_metadata_key') });
  return value;
}

/** In requests and responses. */
export const metadata = z
  .preprocess(
    rejectPrototypeKey,
    z
      .record(text(1, 40), freeText(0, 500))
      .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, fieldIssue('too_many_pairs')),
  )
  .describe(
    'Your own key-value pairs: up to 20, keys of up to 40 and values of up to 500 characters. They are stored encrypted, and returned in responses and events. Lists cannot be filtered by them.',
  )
  .meta({ id: 'Metadata', maxProperties: MAX_METADATA_PAIRS, example: { orderId: '1001' } });

/** The fields that requests to create payins, payouts and payment links share, as their commands have them. */
export function commonFields({
  amountInCents,
  reference,
  inlineCustomer = null,
  metadata = {},
}: {
  readonly amountInCents: number;
  readonly reference: string;
  readonly inlineCustomer?: Customer | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}) {
  return {
    amount: cents(amountInCents),
    reference,
    customer: inlineCustomer,
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
  };
}
