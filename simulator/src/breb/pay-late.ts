import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { storeLatePayer } from './key.store.ts';
import { keyStatus } from './key-status.ts';
import { type PayResult, payKey } from './pay-key.ts';

type PayLateCommand = {
  readonly key: string;
  /** Default: the registered amount. */
  readonly amount?: string | undefined;
};

/** `paysAfterClosing` is the amount that arrives a few seconds after the key is closed or its payment has ended. */
type PayLateResult = PayResult | { readonly key: string; readonly paysAfterClosing: string };

/** A payer whose order reaches the key only after it was closed. A key that is not open is paid immediately. */
export async function payLate(deps: Deps, { key, amount }: PayLateCommand): Promise<PayLateResult> {
  const { keys, clock } = deps.state;
  const found = keys.byKey.get(key);
  if (keyStatus(found) !== 'REGISTERED') return payKey(deps, { key, amount, anyway: true });
  const paysAfterClosing = amount ?? found?.registration?.amount ?? '';
  storeLatePayer(keys, key, paysAfterClosing);
  await record(deps, { at: nowIso(clock), kind: 'breb.late-payer', key, amount: paysAfterClosing });
  return { key, paysAfterClosing };
}
