/**
 * Pays a list of people from a CSV file. Without --send it only checks the holders of the keys and the balance. The same
 * file can be sent again after any failure: a reference is paid once.
 */
import { parseArgs } from 'node:util';
import { Caudal, CaudalError, type Payout } from '@caudal/sdk';
import { type Checked, lookUp } from './look-up.ts';
import { type Payment, readPayroll } from './payroll.ts';

const CONCURRENCY = 5;
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
  const checked = await mapConcurrently(payments, (payment) => lookUp(caudal, payment));
  for (const each of checked) console.log(describeCheck(each));
  const payable = await canBePaid(caudal, checked);
  if (!payable) console.log('Nothing was sent.');
  else if (!values.send) console.log('Dry run: nothing was sent. Use --send to send the payouts.');
  if (!payable || !values.send) return payable ? 0 : 1;
  const results = await mapConcurrently(checked, (each) => pay(caudal, each));
  for (const [index, payout] of results.entries()) console.log(describeResult(payments[index], payout));
  return results.every((payout) => payout?.status === 'CONFIRMED') ? 0 : 1;
}

/** All or nothing is sent: a list with a wrong key must be corrected first. */
async function canBePaid(caudal: Caudal, checked: readonly Checked[]): Promise<boolean> {
  const due = checked.filter(({ earlier }) => earlier === null);
  const cents = due.reduce((sum, { payment }) => sum + payment.amountInCents, 0);
  const { availableInCents } = await caudal.balance.get();
  console.log(`${due.length} to pay, ${pesos(cents)} of ${pesos(availableInCents)} available.`);
  if (cents > availableInCents) console.log('The balance does not cover them.');
  return cents <= availableInCents && due.every(({ problem }) => problem === null);
}

/** @returns null when the outcome is unknown: the money may have been sent, so it is not reported as a failure */
async function pay(caudal: Caudal, { payment, lookupId, earlier }: Checked): Promise<Payout | null> {
  try {
    const { id } = earlier ?? (await caudal.payouts.create(toRequest(payment, lookupId)));
    return await caudal.payouts.waitFor(id, { timeoutMs: WAIT_MS });
  } catch (error) {
    if (!(error instanceof CaudalError)) throw error;
    console.error(`${payment.reference}: ${error.message}`);
    return null;
  }
}

function toRequest({ reference, customer, key, amountInCents }: Payment, lookupId: string | null) {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: customer,
    breb: { keyString: key, ...(lookupId === null ? {} : { lookupId }) },
  } as const;
}

function describeCheck({ payment, holder, problem, earlier }: Checked): string {
  const state = earlier ? `sent before: ${earlier.status}` : (problem ?? `ok, ${holder}`);
  return `line ${payment.line}  ${payment.reference}  ${pesos(payment.amountInCents)}  ${state}`;
}

function describeResult(payment: Payment | undefined, payout: Payout | null): string {
  const outcome = payout
    ? `${payout.status}${payout.errorCode ? ` (${payout.errorCode})` : ''}`
    : 'outcome unknown: run the same file again';
  return `line ${payment?.line}  ${payment?.reference}  ${outcome}`;
}

function pesos(cents: number): string {
  const minimumFractionDigits = cents % 100 === 0 ? 0 : 2;
  return (cents / 100).toLocaleString('es-CO', { style: 'currency', currency: 'COP', minimumFractionDigits });
}

/** Maps a few items at a time; results are in the order of the items. */
async function mapConcurrently<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(from, from + CONCURRENCY).map(work))));
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
