import { z } from 'zod';
import type { Customer } from '../../customers/customer.ts';
import type { OwnPayer } from '../../flows/payment-links/load-own-payer.ts';
import { customer } from '../fields.ts';
import { withoutInvisible } from '../plain-text.ts';
import { DETAIL_FIELDS, type InvalidField } from './render-context.ts';
import type { PersonType } from './screen.ts';

const text = z.string().max(500);

/** Pictographs, flags and keycaps. */
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u;

/** Digits of a company's NIT without its check digit. */
const COMPANY_NIT_DIGITS = 9;

/** The named fields of a form that are strings; other fields are dropped. */
export function pickFields(body: unknown, names: readonly string[]): Record<string, string> {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  return Object.fromEntries(
    names.flatMap((name) => {
      const read = text.safeParse(fields[name]);
      return read.success ? [[name, read.data]] : [];
    }),
  );
}

/** Parses the payer's details, or lists the invalid fields. A company always identifies itself with its NIT. */
export function readPayer(
  values: Readonly<Record<string, string>>,
  personType: PersonType,
): { readonly customer: Customer } | { readonly invalidFields: readonly InvalidField[] } {
  const isCompany = personType === 'BUSINESS';
  const idType = isCompany ? 'CO_NIT' : values['idType'];
  const typed = (field: string) => withoutInvisible((values[field] ?? '').trim());
  const name = typed('name').replace(/\s+/g, ' ');
  const idNumber = normalizeDocument(typed('idNumber'), idType);
  const read = customer.safeParse({
    name,
    idType,
    idNumber: isCompany ? separateCheckDigit(idNumber) : idNumber,
    phone: normalizePhone(typed('phone')),
    email: typed('email'),
  });
  const authorized = values['authorize'] === 'yes';
  const invalid = new Set(read.error?.issues.map((issue) => String(issue.path[0])));
  if (!isPossibleName(name, isCompany)) invalid.add('name');
  if (!authorized) invalid.add('authorize');
  if (read.success && invalid.size === 0) return { customer: read.data };
  return { invalidFields: DETAIL_FIELDS.filter((field) => invalid.has(field)) };
}

/** The form values of an earlier attempt. Name and document are dropped when another type of person pays now. */
export function knownValues(
  { customer: { name, idType, idNumber, phone, email }, method }: OwnPayer,
  personType: PersonType | null,
): Readonly<Record<string, string>> {
  const { bank } = method;
  const contact = { phone, email, authorize: 'yes', bank, personType: method.personType };
  return (personType ?? method.personType) === method.personType
    ? { ...contact, name, idType, idNumber }
    : contact;
}

/** Accepts Colombian mobile numbers as people write them; other numbers need a plus sign or two zeros. */
function normalizePhone(input: string): string {
  const bare = input.replace(/[\s().-]/g, '').replace(/^00/, '+');
  if (bare.startsWith('+')) return bare;
  return /^3\d{9}$/.test(bare) ? `+57${bare}` : /^573\d{9}$/.test(bare) ? `+${bare}` : bare;
}

/** Removes the separators that people write in document numbers. The hyphen of a NIT precedes its check digit. */
function normalizeDocument(input: string, idType: string | undefined): string {
  const bare = input.replace(/[\s.,]/g, '').replace(/[‐‑–—]/g, '-');
  return idType === 'CO_NIT' ? bare : bare.replaceAll('-', '');
}

/** Ten digits are a NIT with its check digit. With the hyphen, the check digit is verified. */
function separateCheckDigit(nit: string): string {
  const isComplete = nit.length === COMPANY_NIT_DIGITS + 1 && /^\d+$/.test(nit);
  return isComplete ? `${nit.slice(0, COMPANY_NIT_DIGITS)}-${nit.slice(COMPANY_NIT_DIGITS)}` : nit;
}

/** Rejects what cannot be a name: emoji, and text without letters. A company may have a single letter, such as D1. */
function isPossibleName(name: string, isCompany: boolean): boolean {
  const letters = name.match(/\p{L}/gu)?.length ?? 0;
  return letters >= (isCompany ? 1 : 2) && !EMOJI.test(name);
}
