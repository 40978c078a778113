import { z } from 'zod';
import type { Customer } from '../../customers/customer.ts';
import { customer } from '../fields.ts';
import { DETAIL_FIELDS, type WrongField } from './drawing.ts';

const text = z.string().max(500);

/** As people write a Colombian mobile number; others with their plus sign. */
function phoneOf(typed: string): string {
  const bare = typed.replace(/[\s().-]/g, '');
  if (bare.startsWith('+')) return bare;
  return /^3\d{9}$/.test(bare) ? `+57${bare}` : /^573\d{9}$/.test(bare) ? `+${bare}` : bare;
}

/** A form's own fields as text; what else was sent is left out. */
export function valuesOf(body: unknown, names: readonly string[]): Record<string, string> {
  const sent = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  return Object.fromEntries(
    names.flatMap((name) => {
      const read = text.safeParse(sent[name]);
      return read.success ? [[name, read.data]] : [];
    }),
  );
}

/** The payer's details, or which of them cannot be taken. */
export function readPayer(
  values: Readonly<Record<string, string>>,
): { readonly customer: Customer } | { readonly wrong: readonly WrongField[] } {
  const idNumber = (values['idNumber'] ?? '').replace(/[\s.]/g, '');
  const read = customer.safeParse({
    name: (values['name'] ?? '').trim().replace(/\s+/g, ' '),
    idType: values['idType'],
    idNumber,
    phone: phoneOf(values['phone'] ?? ''),
    email: (values['email'] ?? '').trim(),
  });
  const authorized = values['authorize'] === 'yes';
  if (read.success && authorized) return { customer: read.data };
  const failed = new Set(read.error?.issues.map((issue) => String(issue.path[0])));
  return {
    wrong: DETAIL_FIELDS.filter((name) => (name === 'authorize' ? !authorized : failed.has(name))),
  };
}
