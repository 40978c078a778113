import { readFileSync } from 'node:fs';
import type { Customer } from '@caudal/sdk';

/** A row of the file: who gets how much. */
export interface Payment {
  readonly line: number;
  /** Yours, unique for ever: it is what makes a second run of the same file pay nobody twice. */
  readonly reference: string;
  readonly customer: Customer;
  readonly key: string;
  readonly amountInCents: number;
}

const COLUMNS = ['reference', 'name', 'idType', 'idNumber', 'phone', 'email', 'key', 'pesos'] as const;

/** @throws Error naming the line, before anything is asked of anybody */
export function readPayroll(file: string): Payment[] {
  const [header = [], ...rows] = rowsOf(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const missing = COLUMNS.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Error(`${file}: the first line must name ${missing.join(', ')}`);
  const payments = rows.map((row, index) => paymentOf(file, index + 2, header, row));
  const repeated = payments.find(({ reference }, index) =>
    payments.slice(0, index).some((earlier) => earlier.reference === reference),
  );
  if (repeated)
    throw new Error(`${file}, line ${repeated.line}: ${repeated.reference} is there twice: pay whom once?`);
  return payments;
}

function paymentOf(file: string, line: number, header: readonly string[], row: readonly string[]): Payment {
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
    amountInCents: centsOf(file, line, cell('pesos')),
  };
}

/** By its digits: 0.1 + 0.2 is not 0.3, and people notice on payday. */
function centsOf(file: string, line: number, text: string): number {
  const [, pesos, cents = ''] = /^(\d{1,10})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (pesos === undefined)
    throw new Error(`${file}, line ${line}: "${text}" is no amount; write 1250000 or 980000.50`);
  return Number(pesos) * 100 + Number(cents.padEnd(2, '0'));
}

/** RFC 4180: commas and line breaks inside quotes, a doubled quote is one. */
function rowsOf(text: string): string[][] {
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
