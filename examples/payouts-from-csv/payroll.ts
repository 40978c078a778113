import { readFileSync } from 'node:fs';
import type { Customer } from '@caudal/sdk';

/** A row of the file. */
export interface Payment {
  readonly line: number;
  /** Your unique reference: it prevents a second run of the same file from paying twice. */
  readonly reference: string;
  readonly customer: Customer;
  readonly key: string;
  readonly amountInCents: number;
}

const COLUMNS = ['reference', 'name', 'idType', 'idNumber', 'phone', 'email', 'key', 'pesos'] as const;

/** @throws Error with the line number, before any request is made */
export function readPayroll(file: string): Payment[] {
  const [header = [], ...rows] = parseCsv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const missing = COLUMNS.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Error(`${file}: the first line must contain ${missing.join(', ')}`);
  const payments = rows.map((row, index) => parsePayment(file, index + 2, header, row));
  const repeated = payments.find(({ reference }, index) =>
    payments.slice(0, index).some((earlier) => earlier.reference === reference),
  );
  if (repeated) throw new Error(`${file}, line ${repeated.line}: duplicate reference ${repeated.reference}`);
  return payments;
}

function parsePayment(
  file: string,
  line: number,
  header: readonly string[],
  row: readonly string[],
): Payment {
  const cell = (column: (typeof COLUMNS)[number]) => {
    const text = row[header.indexOf(column)]?.trim();
    if (!text) throw new Error(`${file}, line ${line}: ${column} is empty`);
    return text;
  };
  return {
    line,
    reference: cell('reference'),
    customer: {
      name: cell('name'),
      idType: cell('idType') as Customer['idType'],
      idNumber: cell('idNumber'),
      phone: cell('phone'),
      email: cell('email'),
    },
    key: cell('key'),
    amountInCents: parseCents(file, line, cell('pesos')),
  };
}

/** Parses digits instead of floats, which cannot represent all amounts exactly. */
function parseCents(file: string, line: number, text: string): number {
  const [, pesos, cents = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (pesos === undefined)
    throw new Error(
      `${file}, line ${line}: "${text}" is not a valid amount; use the format 1250000 or 980000.50`,
    );
  return Number(pesos) * 100 + Number(cents.padEnd(2, '0'));
}

/** Parses RFC 4180: quoted cells may contain commas and line breaks; a doubled quote is a literal quote. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    if (row.some((cell) => cell !== '')) rows.push(row);
    row = [];
  }
  return rows;
}
