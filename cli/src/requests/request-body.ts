import { readFileSync } from 'node:fs';
import type { OptionDescription } from '@caudal/command-tree';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { readStdin } from '../output/prompt.ts';
import { parseCents, parsePesos } from './pesos.ts';

export type Body = Readonly<Record<string, unknown>>;

const ID_TYPES = ['CO_CC', 'CO_CE', 'CO_NIT', 'MXN_RFC', 'PASSPORT'];

export const AMOUNT_OPTIONS: readonly OptionDescription[] = [
  { name: 'amount', value: 'PESOS', summary: 'amount in pesos: 49800, 49.800 or 49800.50' },
  { name: 'amount-in-cents', value: 'CENTS', summary: 'amount in cents, instead of --amount: 4980000' },
];

export const IDEMPOTENCY_OPTION: OptionDescription = {
  name: 'idempotency-key',
  value: 'KEY',
  summary: 'a retry with the same key takes effect once (default: generated)',
};

export const CREATION_OPTIONS: readonly OptionDescription[] = [
  { name: 'reference', value: 'TEXT', summary: 'your unique reference (default: generated)' },
  {
    name: 'metadata',
    value: 'KEY=VALUE,…',
    summary: 'your own pairs: order=1001,store=Norte (values with commas: --data)',
  },
  IDEMPOTENCY_OPTION,
  {
    name: 'data',
    value: 'JSON',
    summary: 'request body: JSON, @FILE, or - for stdin; options override it',
  },
];

export const CUSTOMER_OPTIONS: readonly OptionDescription[] = [
  { name: 'name', value: 'NAME', summary: 'full name' },
  { name: 'id-type', value: 'TYPE', summary: 'document type (default: CO_CC)', choices: ID_TYPES },
  { name: 'id-number', value: 'NUMBER', summary: 'document number' },
  { name: 'phone', value: 'PHONE', summary: 'phone with country code: +573001234567' },
  { name: 'email', value: 'EMAIL', summary: 'e-mail address' },
];

/** The request body from --data and --metadata; empty without them. */
export async function readData(args: ParsedArgs): Promise<Body> {
  return { ...(await readJson(args)), ...omitUndefined({ metadata: readMetadata(args.text('metadata')) }) };
}

function readMetadata(text: string | undefined): Body | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(',').map((pair) => {
    const [, key, value] = /^\s*([^=]+?)\s*=(.*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`--metadata: "${pair}" is not KEY=VALUE`);
    return [key, value.trim()] as const;
  });
  return Object.fromEntries(pairs);
}

/** Metadata in the form that --metadata accepts. */
export function metadataText(metadata: Readonly<Record<string, string>>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

async function readJson(args: ParsedArgs): Promise<Body> {
  const data = args.text('data');
  if (data === undefined) return {};
  const text = data === '-' ? await readStdin() : data.startsWith('@') ? readFileText(data.slice(1)) : data;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch (error) {
    throw new UsageError(
      `--data is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  throw new UsageError('--data must be a JSON object');
}

function readFileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function readAmount(args: ParsedArgs): number | undefined {
  const [pesos, cents] = [args.text('amount'), args.text('amount-in-cents')];
  if (pesos !== undefined && cents !== undefined)
    throw new UsageError('use either --amount or --amount-in-cents, not both');
  if (pesos !== undefined) return parsePesos(pesos);
  return cents === undefined ? undefined : parseCents(cents);
}

/** Reads the customer options: all or none. */
export function readCustomer(args: ParsedArgs, known: unknown): Body | undefined {
  const values = {
    name: args.text('name'),
    idType: args.text('id-type'),
    idNumber: args.text('id-number'),
    phone: args.text('phone'),
    email: args.text('email'),
  };
  if (Object.values(values).every((value) => value === undefined)) return undefined;
  const customer: Record<string, unknown> = {
    idType: 'CO_CC',
    ...(known as Body | undefined),
    ...omitUndefined(values),
  };
  const missing = Object.entries({ name: 'name', idNumber: 'id-number', phone: 'phone', email: 'email' })
    .filter(([field]) => customer[field] === undefined)
    .map(([, option]) => `--${option}`);
  if (missing.length > 0) throw new UsageError(`the customer is incomplete: add ${missing.join(', ')}`);
  return customer;
}

export function omitUndefined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** A nested object of the body: options override --data. */
export function nestedObject(body: Body, name: string, values: Body): Body {
  const inside = { ...(body[name] as Body | undefined), ...omitUndefined(values) };
  return Object.keys(inside).length === 0 ? {} : { [name]: inside };
}

export function requireAmount(body: Body, command: string): void {
  if (body['amountInCents'] === undefined)
    throw new UsageError(`${command} needs --amount (or --amount-in-cents, or --data)`, [
      `See: caudal help ${command}`,
    ]);
}
