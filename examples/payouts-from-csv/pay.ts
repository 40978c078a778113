/**
 * Pays a list of people from a CSV file. Without --send it only looks: whose keys they are, whether the balance covers
 * them. The same file can be sent again after any failure: a reference is paid once.
 */
import { parseArgs } from 'node:util';
import { Caudal, CaudalError, type Payout } from '@caudal/sdk';
import { type Checked, lookUp } from './look-up.ts';
import { type Payment, readPayroll } from './payroll.ts';

const AT_ONCE = 5;
const WAIT_MS = 60_000;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { send: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [file] = positionals;
  const apiKey = process.env['CAUDAL_API_KEY'];
  if (file === undefined || apiKey === undefined) {
    console.error('CAUDAL_API_KEY=cdl_test_… node pay.ts FILE.csv [--send]');
    return 2;
  }
  const caudal = new Caudal({ apiKey, baseUrl: process.env['CAUDAL_BASE_URL'] });
  const payments = readPayroll(file);
  const checked = await inTurn(payments, (payment) => lookUp(caudal, payment));
  for (const each of checked) console.log(lineOf(each));
  const fit = await canBePaid(caudal, checked);
  if (!fit) console.log('Nothing was sent.');
  else if (!values.send) console.log('A dry run: nothing was sent. Send it with --send.');
  if (!fit || !values.send) return fit ? 0 : 1;
  const ends = await inTurn(checked, (each) => pay(caudal, each));
  for (const [index, end] of ends.entries()) console.log(endOf(payments[index], end));
  return ends.every((end) => end?.status === 'CONFIRMED') ? 0 : 1;
}

/** All or none is sent: a list with a wrong key is mended first. */
async function canBePaid(caudal: Caudal, checked: readonly Checked[]): Promise<boolean> {
  const due = checked.filter(({ earlier }) => earlier === null);
  const cents = due.reduce((sum, { payment }) => sum + payment.amountInCents, 0);
  const { availableInCents } = await caudal.balance.get();
  console.log(`${due.length} to pay, ${pesos(cents)} of ${pesos(availableInCents)} available.`);
  if (cents > availableInCents) console.log('The balance does not cover them.');
  return cents <= availableInCents && due.every(({ trouble }) => trouble === null);
}

/** @returns null when the outcome is not known yet: the money may have left, so it is not told as a failure */
async function pay(caudal: Caudal, { payment, lookupId, earlier }: Checked): Promise<Payout | null> {
  try {
    const { id } = earlier ?? (await caudal.payouts.create(bodyOf(payment, lookupId)));
    return await caudal.payouts.waitFor(id, { timeoutMs: WAIT_MS });
  } catch (error) {
    if (!(error instanceof CaudalError)) throw error;
    console.error(`${payment.reference}: ${error.message}`);
    return null;
  }
}

function bodyOf({ reference, customer, key, amountInCents }: Payment, lookupId: string | null) {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: customer,
    breb: { keyString: key, ...(lookupId === null ? {} : { lookupId }) },
  } as const;
}

function lineOf({ payment, holder, trouble, earlier }: Checked): string {
  const state = earlier ? `sent before: ${earlier.status}` : (trouble ?? `ok, ${holder}`);
  return `line ${payment.line}  ${payment.reference}  ${pesos(payment.amountInCents)}  ${state}`;
}

function endOf(payment: Payment | undefined, end: Payout | null): string {
  const outcome = end
    ? `${end.status}${end.errorCode ? ` (${end.errorCode})` : ''}`
    : 'not known yet: run the same file again to see';
  return `line ${payment?.line}  ${payment?.reference}  ${outcome}`;
}

function pesos(cents: number): string {
  const minimumFractionDigits = cents % 100 === 0 ? 0 : 2;
  return (cents / 100).toLocaleString('es-CO', { style: 'currency', currency: 'COP', minimumFractionDigits });
}

/** A few at a time, answers in the order of the file. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
  return results;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
