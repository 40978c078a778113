import { setTimeout as sleep } from 'node:timers/promises';
import type { CreatedPayin } from '../clients/payin-client.ts';
import type { Random } from '../run/random.ts';
import type { PaymentOrder, RailControl } from '../stack/rail-control.ts';

const KEY_ACTS = {
  full: 30,
  under: 7,
  over: 7,
  twice: 8,
  late: 4,
  after_closing: 4,
  rejected: 8,
  canceled: 8,
  paid_then_denied: 5,
  abandons: 19,
};

const PAGE_ACTS = {
  approves: 28,
  leaves_and_approves: 6,
  no_funds: 9,
  cancels: 8,
  bank_fails: 6,
  denied_then_paid: 6,
  paid_then_denied: 6,
  abandons: 31,
};

/** Plays the payer of a payin without a magic document. Gives up when something fails, for example a rail that is down. */
export async function actAsPayer(
  rails: RailControl,
  random: Random,
  payin: CreatedPayin,
  pseReference: string,
): Promise<void> {
  await sleep(random.integer(0, 1500));
  if (payin.key !== null) await payKey(rails, random, payin.key, payin.amountInCents);
  else await decideAtBank(rails, random, pseReference);
}

async function payKey(rails: RailControl, random: Random, key: string, cents: number): Promise<void> {
  const act = random.weighted(KEY_ACTS);
  switch (act) {
    case 'full':
      return payWhenRegistered(rails, [{ key }]);
    case 'under':
      // Not one peso less: the fault `wrong-amount` would make that payment look complete.
      return payWhenRegistered(rails, [{ key, amount: pesos(Math.floor(cents / 3)) }]);
    case 'over':
      return payWhenRegistered(rails, [{ key, amount: pesos(cents * 2 + 1) }]);
    case 'twice':
      return payWhenRegistered(rails, [
        { key },
        { key, ...(random.chance(0.5) ? { amount: '1234.56' } : {}) },
      ]);
    case 'late':
      await sleep(random.integer(500, 5000));
      return void (await rails.pay({ key, amount: pesos(cents), anyway: true }));
    case 'after_closing':
      return rails.payLate({ key, amount: pesos(cents) });
    case 'rejected':
    case 'canceled':
      return whenRegistered(() =>
        rails.endKey({ key, outcome: act === 'rejected' ? 'REJECTED' : 'CANCELED' }),
      );
    case 'paid_then_denied':
      await payWhenRegistered(rails, [{ key }]);
      return void (await rails.endKey({ key, outcome: 'REJECTED', anyway: true }));
    case 'abandons':
      return undefined;
  }
}

/** Pays a share of the requested amount, so that the attempt ends underpaid and the next one asks for the rest. */
export async function payPart(rails: RailControl, random: Random, payin: CreatedPayin): Promise<void> {
  if (payin.key === null) return;
  const amount = pesos(Math.floor((payin.amountInCents * random.integer(25, 75)) / 100));
  await payWhenRegistered(rails, [{ key: payin.key, amount }]);
}

export async function payRest(rails: RailControl, payin: CreatedPayin): Promise<void> {
  if (payin.key !== null) await payWhenRegistered(rails, [{ key: payin.key }]);
}

async function decideAtBank(rails: RailControl, random: Random, reference: string): Promise<void> {
  const end = (state: 'OK' | 'NOT_AUTHORIZED' | 'FAILED', reason?: string, anyway = false) =>
    rails.endTransaction({ reference, state, anyway, ...(reason === undefined ? {} : { reason }) });
  switch (random.weighted(PAGE_ACTS)) {
    case 'approves':
      return whenRegistered(() => end('OK'));
    case 'leaves_and_approves':
      return whenRegistered(() =>
        rails.leaveTransaction({ reference, approvesInMs: random.integer(500, 5000) }),
      );
    case 'no_funds':
      return whenRegistered(() => end('NOT_AUTHORIZED', '11'));
    case 'cancels':
      return whenRegistered(() => end('NOT_AUTHORIZED', '1'));
    case 'bank_fails':
      return whenRegistered(() => end('FAILED'));
    case 'denied_then_paid':
      await whenRegistered(() => end('NOT_AUTHORIZED', '11'));
      await sleep(random.integer(0, 500));
      return void (await end('OK', undefined, true));
    case 'paid_then_denied':
      await whenRegistered(() => end('OK'));
      return void (await end('FAILED', undefined, true));
    case 'abandons':
      return undefined;
  }
}

function payWhenRegistered(rails: RailControl, payments: readonly PaymentOrder[]): Promise<void> {
  return whenRegistered(async () => (await rails.pay(...payments)).includes(true));
}

/** Retries a few times: the rail may not know the key or transaction yet. */
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

/** The reference of a payin at PSE and the end-to-end id of a payout: id and organization number in Crockford base32. */
export function toRailReference(payinId: string, organizationNumber: number): string {
  const digits = (value: bigint, count: number) =>
    Array.from({ length: count }, (_, index) =>
      CROCKFORD.charAt(Number((value >> BigInt(5 * (count - 1 - index))) & 31n)),
    ).join('');
  return digits(BigInt(`0x${payinId.replaceAll('-', '')}`), 26) + digits(BigInt(organizationNumber), 6);
}
