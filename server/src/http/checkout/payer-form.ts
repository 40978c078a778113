import { z } from 'zod';
import type { Customer } from '../../customers/customer.ts';
import { customer } from '../fields.ts';
import { DETAIL_FIELDS, type InvalidField } from './render-context.ts';

const text = z.string().max(500);

/** Accepts Colombian mobile numbers as people write them; other numbers need a plus sign. */
function normalizePhone(input: string): string {
  const bare = input.replace(/[\s().-]/g, '');
  if (bare.startsWith('+')) return bare;
  return /^3\d{9}$/.test(bare) ? `+57${bare}` : /^573\d{9}$/.test(bare) ? `+${bare}` : bare;
}

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

/** Parses the payer's details, or lists the invalid fields. */
export function readPayer(
  values: Readonly<Record<string, string>>,
): { readonly customer: Customer } | { readonly invalidFields: readonly InvalidField[] } {
  const idNumber = (values['idNumber'] ?? '').replace(/[\s.]/g, '');
  const read = customer.safeParse({
    name: (values['name'] ?? '').trim().replace(/\s+/g, ' '),
    idType: values['idType'],
    idNumber,
    phone: normalizePhone(values['phone'] ?? ''),
    email: (values['email'] ?? '').trim(),
  });
  const authorized = values['authorize'] === 'yes';
  if (read.success && authorized) return { customer: read.data };
  const failed = new Set(read.error?.issues.map((issue) => String(issue.path[0])));
  return {
    invalidFields: DETAIL_FIELDS.filter((name) => (name === 'authorize' ? !authorized : failed.has(name))),
  };
}
