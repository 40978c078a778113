import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal } from '@caudal/sdk';
import { type Payin, payinIdOf } from './commands/payins.ts';
import { Fault } from './errors.ts';
import { isFinal } from './outcome.ts';
import { centsAsDecimal } from './pesos.ts';
import { findByRailReference } from './rail-reference.ts';
import type { Simulator } from './simulator.ts';

/** A payment at its rail, as the payer or the bank can lay hands on it. */
export type SimulatedPayment =
  | { readonly rail: 'BRE_B'; readonly key: string; readonly payin: Payin | null }
  | { readonly rail: 'PSE'; readonly bankPage: string; readonly payin: Payin };

const REGISTERED_WITHIN_MS = 10_000;
const ENDED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 150;

/** @param named a Bre-B key of ours, or the id or reference of a payin */
export async function findSimulated(client: () => Caudal, named: string): Promise<SimulatedPayment> {
  if (named.startsWith('@')) return { rail: 'BRE_B', key: named.toUpperCase(), payin: null };
  const caudal = client();
  const payin = await caudal.payins.get(await payinIdOf(caudal, named));
  const { sourceData } = payin;
  if (sourceData && 'keyString' in sourceData) return { rail: 'BRE_B', key: sourceData.keyString, payin };
  const bankPage = sourceData && 'pseUrl' in sourceData ? sourceData.pseUrl : null;
  if (!bankPage) throw new Fault('the bank page of this payin is not known yet', ['Try again in a moment.']);
  return { rail: 'PSE', bankPage, payin };
}

/** Pays a key. One that was created a moment ago is about to be registered: that is awaited. */
export async function payKey(
  simulator: Simulator,
  { key, amountInCents, anyway }: { key: string; amountInCents?: number | undefined; anyway: boolean },
): Promise<{ executionId: string }> {
  if (!anyway) await untilRegistered(simulator, key);
  const amount = amountInCents === undefined ? {} : { amount: centsAsDecimal(amountInCents) };
  const { results } = await simulator.post<{ results: { executionId?: string; code?: string }[] }>(
    '/keys/pay',
    {
      payments: [{ key, ...amount, anyway }],
    },
  );
  const { executionId, code } = results[0] ?? {};
  if (executionId !== undefined) return { executionId };
  throw new Fault(
    code === 'AMOUNT_REQUIRED'
      ? 'nobody registered this key, so it does not say how much: give --amount'
      : `the key ${key} cannot be paid: it is not registered, closed, or its payment has ended`,
    ['Money that arrives all the same: caudal simulate late'],
  );
}

export async function untilRegistered(simulator: Simulator, key: string): Promise<void> {
  const deadline = performance.now() + REGISTERED_WITHIN_MS;
  while ((await simulator.find(`/keys/${encodeURIComponent(key)}`)) === null) {
    if (performance.now() > deadline)
      throw new Fault(`the network does not know the key ${key}`, [
        'Is it a payin of this server, and is a rail down? caudal simulate faults',
      ]);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Decides on the bank's own page, as the payer would. */
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
  if (response === null) throw new Fault(`the bank's page does not answer: ${bankPage}`);
  if (response.status === 400)
    throw new Fault('the bank does not know that reason', ['See: caudal help simulate decline']);
  if (!response.ok) throw new Fault(`the bank's page answered ${response.status}: ${bankPage}`);
}

/** The bank says something after it has said something else. */
export async function contradictAtBank(simulator: Simulator, payin: Payin): Promise<void> {
  const found = await findByRailReference(payin.id, (reference) =>
    simulator.find<{ reference: string }>(`/transactions/${reference}`),
  );
  if (!found) throw new Fault('this simulator does not know the payin');
  await simulator.post('/transactions/end', { reference: found.reference, state: 'OK', anyway: true });
}

/** The payin once it has ended, or as it is after a while. */
export async function seenAfter(
  caudal: Caudal,
  payin: Payin,
  isDone: (seen: Payin) => boolean = ({ status }) => isFinal(status),
): Promise<Payin> {
  const deadline = performance.now() + ENDED_WITHIN_MS;
  for (;;) {
    const seen = await caudal.payins.get(payin.id);
    if (isDone(seen) || performance.now() > deadline) return seen;
    await sleep(LOOK_EVERY_MS);
  }
}
