import { readFileSync } from 'node:fs';
import type { Option } from './command.ts';
import { Fault, UsageError } from './errors.ts';
import type { ParsedArgs } from './parsed-args.ts';
import { readCents, readPesos } from './pesos.ts';
import { readStdin } from './prompt.ts';

export type Body = Readonly<Record<string, unknown>>;

const ID_TYPES = ['CO_CC', 'CO_CE', 'CO_NIT', 'MXN_RFC', 'PASSPORT'];

export const AMOUNT_OPTIONS: readonly Option[] = [
  { name: 'amount', value: 'PESOS', summary: 'as people write it: 49800, 49.800 or 49800.50' },
  { name: 'amount-in-cents', value: 'CENTS', summary: 'instead of --amount: 4980000' },
];

export const IDEMPOTENCY_OPTION: Option = {
  name: 'idempotency-key',
  value: 'KEY',
  summary: 'the same key, the same effect: once; made when left out',
};

export const CREATION_OPTIONS: readonly Option[] = [
  { name: 'reference', value: 'TEXT', summary: 'your name for it, never used before; made when left out' },
  IDEMPOTENCY_OPTION,
  {
    name: 'data',
    value: 'JSON',
    summary: 'the body of the request: JSON, @FILE, or - for stdin; options come on top',
  },
];

export const CUSTOMER_OPTIONS: readonly Option[] = [
  { name: 'name', value: 'NAME', summary: 'full name' },
  { name: 'id-type', value: 'TYPE', summary: 'kind of document, CO_CC when left out', choices: ID_TYPES },
  { name: 'id-number', value: 'NUMBER', summary: 'number of the document' },
  { name: 'phone', value: 'PHONE', summary: 'with its country: +573001234567' },
  { name: 'email', value: 'EMAIL', summary: 'e-mail address' },
];

/** What --data says, or nothing. */
export async function readData(args: ParsedArgs): Promise<Body> {
  const data = args.text('data');
  if (data === undefined) return {};
  const text = data === '-' ? await readStdin() : data.startsWith('@') ? readFileText(data.slice(1)) : data;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch (error) {
    throw new UsageError(`--data is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError('--data must be a JSON object');
}

function readFileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Fault(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function readAmount(args: ParsedArgs): number | undefined {
  const [pesos, cents] = [args.text('amount'), args.text('amount-in-cents')];
  if (pesos !== undefined && cents !== undefined)
    throw new UsageError('--amount and --amount-in-cents say the same: give one of them');
  if (pesos !== undefined) return readPesos(pesos);
  return cents === undefined ? undefined : readCents(cents);
}

/** The five facts go together: all of them or none. */
export function readCustomer(args: ParsedArgs, known: unknown): Body | undefined {
  const told = {
    name: args.text('name'),
    idType: args.text('id-type'),
    idNumber: args.text('id-number'),
    phone: args.text('phone'),
    email: args.text('email'),
  };
  if (Object.values(told).every((value) => value === undefined)) return undefined;
  const customer: Record<string, unknown> = {
    idType: 'CO_CC',
    ...(known as Body | undefined),
    ...defined(told),
  };
  const missing = Object.entries({ name: 'name', idNumber: 'id-number', phone: 'phone', email: 'email' })
    .filter(([field]) => customer[field] === undefined)
    .map(([, option]) => `--${option}`);
  if (missing.length > 0) throw new UsageError(`a person also needs ${missing.join(', ')}`);
  return customer;
}

export function defined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** An object within the body, with what options say on top of what --data said. */
export function within(body: Body, name: string, told: Body): Body {
  const inside = { ...(body[name] as Body | undefined), ...defined(told) };
  return Object.keys(inside).length === 0 ? {} : { [name]: inside };
}

export function demandAmount(body: Body, command: string): void {
  if (body['amountInCents'] === undefined)
    throw new UsageError(`${command} needs --amount (or --amount-in-cents, or --data)`, [
      `See: caudal help ${command}`,
    ]);
}
