import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal } from '@caudal/sdk';
import { type Payin, resolvePayinId } from '../commands/payins.ts';
import { CliError } from '../framework/errors.ts';
import { formatDecimal } from '../requests/pesos.ts';
import { isFinal } from '../requests/wait-for-final-status.ts';
import { findByRailReference } from './rail-reference.ts';
import type { Simulator } from './simulator.ts';

/** A payment that the simulator can pay, decline or cancel. */
export type SimulatedPayment =
  | { readonly rail: 'BRE_B'; readonly key: string; readonly payin: Payin | null }
  | { readonly rail: 'PSE'; readonly bankPage: string; readonly payin: Payin };

const REGISTRATION_TIMEOUT_MS = 10_000;
const STATUS_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 150;

/** @param name the Bre-B key, id or reference of a payin */
export async function findSimulated(client: () => Caudal, name: string): Promise<SimulatedPayment> {
  if (name.startsWith('@')) return { rail: 'BRE_B', key: name.toUpperCase(), payin: null };
  const caudal = client();
  const payin = await caudal.payins.get(await resolvePayinId(caudal, name));
  const { sourceData } = payin;
  if (sourceData && 'keyString' in sourceData) return { rail: 'BRE_B', key: sourceData.keyString, payin };
  const bankPage = sourceData && 'pseUrl' in sourceData ? sourceData.pseUrl : null;
  if (!bankPage) throw new CliError('this payin has no bank page yet', ['Try again in a few seconds.']);
  return { rail: 'PSE', bankPage, payin };
}

/** Pays a Bre-B key. A new key may not be registered yet, so this waits for the registration unless `anyway`. */
export async function payKey(
  simulator: Simulator,
  { key, amountInCents, anyway }: { key: string; amountInCents?: number | undefined; anyway: boolean },
): Promise<{ executionId: string }> {
  if (!anyway) await waitForRegistration(simulator, key);
  const amount = amountInCents === undefined ? {} : { amount: formatDecimal(amountInCents) };
  const { results } = await simulator.post<{ results: { executionId?: string; code?: string }[] }>(
    '/keys/pay',
    {
      payments: [{ key, ...amount, anyway }],
    },
  );
  const { executionId, code } = results[0] ?? {};
  if (executionId !== undefined) return { executionId };
  throw new CliError(
    code === 'AMOUNT_REQUIRED'
      ? 'this key is not registered and has no amount: add --amount'
      : `the key ${key} cannot be paid: it is not registered or closed, or its payment has ended`,
    ['To pay it anyway: caudal simulate late'],
  );
}

export async function waitForRegistration(simulator: Simulator, key: string): Promise<void> {
  const deadline = performance.now() + REGISTRATION_TIMEOUT_MS;
  while ((await simulator.find(`/keys/${encodeURIComponent(key)}`)) === null) {
    if (performance.now() > deadline)
      throw new CliError(`the network does not know the key ${key}`, [
        'Check that the payin belongs to this server, and that no rail is down: caudal simulate faults',
      ]);
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Submits the payer's decision on the bank page. */
export async function decideAtBank(
  bankPage: string,
  decision: { readonly decision: 'approve' | 'reject' | 'cancel'; readonly reason?: string | undefined },
): Promise<void> {
  const { reason } = decision;
  const fields = new URLSearchParams({
    decision: decision.decision,
    ...(reason === undefined ? {} : { reason }),
  });
  const response = await fetch(bankPage, { method: 'POST', body: fields }).catch(() => null);
  if (response === null) throw new CliError(`the bank page does not respond: ${bankPage}`);
  if (response.status === 400)
    throw new CliError('the bank does not know that reason code', ['See: caudal help simulate decline']);
  if (!response.ok) throw new CliError(`the bank page returned ${response.status}: ${bankPage}`);
}

/** The reference of a PSE payin at the rail. */
export async function findTransaction(simulator: Simulator, payin: Payin): Promise<string> {
  const found = await findByRailReference(payin.id, (reference) =>
    simulator.find<{ reference: string }>(`/transactions/${reference}`),
  );
  if (!found) throw new CliError('this simulator does not know the payin');
  return found.reference;
}

/** Makes the bank approve a payment that it has already declined or canceled. */
export async function contradictAtBank(simulator: Simulator, payin: Payin): Promise<void> {
  const reference = await findTransaction(simulator, payin);
  await simulator.post('/transactions/end', { reference, state: 'OK', anyway: true });
}

/** Polls until `isDone` or the timeout, and returns the payin. */
export async function waitForPayin(
  caudal: Caudal,
  payin: Payin,
  isDone: (payin: Payin) => boolean = ({ status }) => isFinal(status),
): Promise<Payin> {
  const deadline = performance.now() + STATUS_TIMEOUT_MS;
  for (;;) {
    const current = await caudal.payins.get(payin.id);
    if (isDone(current) || performance.now() > deadline) return current;
    await sleep(POLL_INTERVAL_MS);
  }
}
