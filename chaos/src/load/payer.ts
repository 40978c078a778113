import { setTimeout as sleep } from 'node:timers/promises';
import type { CreatedPayin } from './client.ts';
import type { PaymentOrder, RailControl } from './rail-control.ts';
import type { Random } from './random.ts';

const KEY_ACTS = {
  full: 30,
  under: 7,
  over: 7,
  twice: 8,
  late: 8,
  rejected: 8,
  canceled: 8,
  'paid, then denied': 5,
  leaves: 19,
};

const PAGE_ACTS = {
  approves: 34,
  'has no funds': 9,
  cancels: 8,
  'bank fails': 6,
  'denied, then paid': 6,
  'paid, then denied': 6,
  leaves: 31,
};

/** Plays the payer of a payin that nothing magic plays. Whatever does not work out, such as a rail that is away, is left. */
export async function actAsPayer(
  rails: RailControl,
  random: Random,
  payin: CreatedPayin,
  pseReference: string,
): Promise<void> {
  await sleep(random.whole(0, 1500));
  if (payin.key !== null) await payKey(rails, random, payin.key, payin.amountInCents);
  else await decideAtBank(rails, random, pseReference);
}

async function payKey(rails: RailControl, random: Random, key: string, cents: number): Promise<void> {
  const act = random.weighted(KEY_ACTS);
  switch (act) {
    case 'full':
      return payWhenRegistered(rails, [{ key }]);
    case 'under':
      // Never a peso less: the fault `wrong-amount` would make that payment look whole.
      return payWhenRegistered(rails, [{ key, amount: pesos(Math.floor(cents / 3)) }]);
    case 'over':
      return payWhenRegistered(rails, [{ key, amount: pesos(cents * 2 + 1) }]);
    case 'twice':
      return payWhenRegistered(rails, [
        { key },
        { key, ...(random.chance(0.5) ? { amount: '1234.56' } : {}) },
      ]);
    case 'late':
      await sleep(random.whole(500, 5000));
      return void (await rails.pay({ key, amount: pesos(cents), anyway: true }));
    case 'rejected':
    case 'canceled':
      return whenRegistered(() =>
        rails.endKey({ key, outcome: act === 'rejected' ? 'REJECTED' : 'CANCELED' }),
      );
    case 'paid, then denied':
      await payWhenRegistered(rails, [{ key }]);
      return void (await rails.endKey({ key, outcome: 'REJECTED', anyway: true }));
    case 'leaves':
      return undefined;
  }
}

async function decideAtBank(rails: RailControl, random: Random, reference: string): Promise<void> {
  const end = (state: 'OK' | 'NOT_AUTHORIZED' | 'FAILED', reason?: string, anyway = false) =>
    rails.endTransaction({ reference, state, anyway, ...(reason === undefined ? {} : { reason }) });
  switch (random.weighted(PAGE_ACTS)) {
    case 'approves':
      return whenRegistered(() => end('OK'));
    case 'has no funds':
      return whenRegistered(() => end('NOT_AUTHORIZED', '11'));
    case 'cancels':
      return whenRegistered(() => end('NOT_AUTHORIZED', '1'));
    case 'bank fails':
      return whenRegistered(() => end('FAILED'));
    case 'denied, then paid':
      await whenRegistered(() => end('NOT_AUTHORIZED', '11'));
      await sleep(random.whole(0, 500));
      return void (await end('OK', undefined, true));
    case 'paid, then denied':
      await whenRegistered(() => end('OK'));
      return void (await end('FAILED', undefined, true));
    case 'leaves':
      return undefined;
  }
}

function payWhenRegistered(rails: RailControl, payments: readonly PaymentOrder[]): Promise<void> {
  return whenRegistered(async () => (await rails.pay(...payments)).includes(true));
}

/** The rail may not know it yet; a payer tries a few times. */
async function whenRegistered(attempt: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    if (await attempt()) return;
    await sleep(250);
  }
}

function pesos(cents: number): string {
  const text = String(cents).padStart(3, '0');
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What PSE knows a payin by: its id and its organization's number, in Crockford's base32. */
export function pseReferenceOf(payinId: string, organizationNumber: number): string {
  const digits = (value: bigint, count: number) =>
    Array.from({ length: count }, (_, index) =>
      CROCKFORD.charAt(Number((value >> BigInt(5 * (count - 1 - index))) & 31n)),
    ).join('');
  return digits(BigInt(`0x${payinId.replaceAll('-', '')}`), 26) + digits(BigInt(organizationNumber), 6);
}
