import { endKey } from './breb/end-key.ts';
import { settleOrder } from './breb/end-order.ts';
import { payKey } from './breb/pay-key.ts';
import { nowMs } from './clock.ts';
import type { Deps } from './deps.ts';
import { findMagic, type MagicDocument } from './magic-documents.ts';
import type { NoticeMode } from './notices/announce.ts';
import { endTransaction } from './pse/end-transaction.ts';
import { leaveTransaction, UNFINISHED_REASONS } from './pse/leave-transaction.ts';
import { type Due, takeDue } from './schedule.ts';
import { fromCents, toCents } from './wire.ts';

/** Limits the work of one tick: a clock shift may make a million actions due at the same time. */
const MAX_PER_TICK = 1000;

const PSE_REASONS = { rejected: '11', canceled: '1' } as const;

export function runDue(deps: Deps): void {
  const { schedule, clock } = deps.state;
  for (const due of takeDue(schedule, nowMs(clock), MAX_PER_TICK)) {
    perform(deps, due).catch((error: unknown) => deps.log(`${due.act} failed: ${String(error)}`));
  }
}

async function perform(deps: Deps, due: Due): Promise<unknown> {
  switch (due.act) {
    case 'pay-key':
      return payMagicKey(deps, due.key, due.nth);
    case 'pay-late':
      return payLatePayer(deps, due.key);
    case 'end-key':
      return endMagicKey(deps, due.key);
    case 'settle-order':
      return settleOrder(deps, due.endToEndId);
    case 'end-transaction':
      return endMagicTransaction(deps, due.reference);
    case 'approve-left':
      return approveLeft(deps, due.reference);
    case 'fail-unopened':
      return failTransaction(deps, due.reference, 'unopened');
    case 'fail-unfinished':
      return failTransaction(deps, due.reference, 'unfinished');
  }
}

/** Makes the nth payment, unless n payments exist already: paid manually, or before a restart. */
async function payMagicKey(deps: Deps, key: string, nth: number): Promise<void> {
  const record = deps.state.keys.byKey.get(key);
  const registration = record?.registration ?? null;
  const magic = findMagic(registration?.payer);
  if (record === undefined || registration === null || magic === null) return;
  if (record.ended !== null || record.payments.length >= nth) return;
  // The server closes the key after the first payment, so the second one must ignore the closing.
  const command = {
    key,
    amount: toPaidAmount(magic, registration.amount),
    anyway: magic.late === true || nth > 1,
  };
  await payKey(deps, command, magic.silent === true ? 'silent' : 'once');
}

/** The stored payment removes the late payer, so a second action for the same key does nothing. */
async function payLatePayer(deps: Deps, key: string): Promise<void> {
  const amount = deps.state.keys.latePayers.get(key);
  if (amount !== undefined) await payKey(deps, { key, amount, anyway: true });
}

function toPaidAmount({ share }: MagicDocument, amount: string): string {
  const cents = toCents(amount);
  if (share === 'double') return fromCents(2n * cents);
  if (share === 'half') return fromCents(cents < 2n ? 1n : cents / 2n);
  return amount;
}

async function endMagicKey(deps: Deps, key: string): Promise<void> {
  const magic = findMagic(deps.state.keys.byKey.get(key)?.registration?.payer);
  if (magic?.ends !== 'rejected' && magic?.ends !== 'canceled') return;
  await endKey(deps, { key, outcome: magic.ends === 'rejected' ? 'REJECTED' : 'CANCELED', anyway: false });
}

async function endMagicTransaction(deps: Deps, reference: string): Promise<void> {
  const found = deps.state.transactions.byReference.get(reference);
  const magic = findMagic(found?.payer);
  if (found === undefined || magic === null || magic.ends === 'refused') return;
  if (magic.ends === 'left') return leaveTransaction(deps, found);
  if (magic.ends === 'paid') {
    await endTransaction(deps, found, { state: 'OK', anyway: false }, toNoticeMode(magic));
    return;
  }
  await endTransaction(deps, found, {
    state: 'NOT_AUTHORIZED',
    reason: PSE_REASONS[magic.ends],
    anyway: false,
  });
}

function toNoticeMode({ silent, twice }: MagicDocument): NoticeMode {
  if (silent === true) return 'silent';
  return twice === true ? 'twice' : 'once';
}

async function approveLeft(deps: Deps, reference: string): Promise<void> {
  const found = deps.state.transactions.byReference.get(reference);
  if (found !== undefined) await endTransaction(deps, found, { state: 'OK', anyway: false });
}

async function failTransaction(
  deps: Deps,
  reference: string,
  timeout: 'unopened' | 'unfinished',
): Promise<void> {
  const found = deps.state.transactions.byReference.get(reference);
  if (found === undefined || (timeout === 'unopened' && found.openedAt !== null)) return;
  await endTransaction(deps, found, { state: 'FAILED', reason: UNFINISHED_REASONS[timeout], anyway: false });
}
