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

/**
 * Parses 1250000, 980000.50, and what a Colombian spreadsheet writes: 1.250.000 and 980.000,50. A point before
 * three digits separates thousands, because pesos have at most two decimals. Rejects what may be a mistyped amount, such as
 * 1,250 and 1.250.00. It parses digits instead of floats, which cannot represent all amounts exactly.
 */
function parseCents(file: string, line: number, text: string): number {
  const [, plain, plainCents, grouped, groupedCents] =
    /^(?:\$ ?)?(?:(\d{1,10})(?:[.,](\d{1,2}))?|([1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d{1,2}))?)$/.exec(text) ?? [];
  const pesos = plain ?? grouped?.replaceAll('.', '');
  if (pesos === undefined || pesos.length > 10)
    throw new Error(
      `${file}, line ${line}: "${text}" is not a valid amount; use the format 1250000, 980000.50 or 1.250.000,50`,
    );
  return Number(pesos) * 100 + Number((plainCents ?? groupedCents ?? '').padEnd(2, '0'));
}

/**
 * Parses RFC 4180: quoted cells may contain separators and line breaks; a doubled quote is a literal quote. Spreadsheets with
 * Colombian settings separate cells by semicolons, because the comma is their decimal sign.
 */
function parseCsv(text: string): string[][] {
  const [header = ''] = text.split(/\r?\n/, 1);
  const separator = header.includes(';') ? ';' : ',';
  const cells = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, 'g');
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(cells)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === separator) continue;
    if (row.some((cell) => cell !== '')) rows.push(row);
    row = [];
  }
  return rows;
}
