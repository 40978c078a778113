import { accept } from './accept-step.ts';
import type { History } from './history.ts';
import { releaseHangingCalls, waitUntilIdle } from './idle.ts';
import type { LinkAction } from './link-step.ts';
import {
  changeMethod,
  closeLink,
  createLink,
  payAttempt,
  payTwoAttempts,
  readLink,
  startAttempt,
  startConcurrently,
} from './link-steps.ts';
import { balance, create, createConcurrently, read, repeat } from './merchant-steps.ts';
import {
  cancel,
  competingPayouts,
  payout,
  payoutsConcurrently,
  payoutThenCancel,
  readPayout,
  repeatPayout,
} from './payout-steps.ts';
import { clear, end, fault, pay, stray } from './rail-steps.ts';
import { directory, endOrder, lookUp } from './receiver-steps.ts';
import {
  ageLeases,
  armWorkers,
  awaitAcknowledged,
  awaitFaults,
  awaitLockWaiters,
  awaitWorkerDeath,
  contend,
  killWorkers,
  lock,
  nearExpiry,
  pause,
  race,
  releaseLocks,
  resume,
  settle,
  shift,
} from './stack-steps.ts';
import type { Step } from './step.ts';

/** Longer than a call needs to reach the rail, shorter than a merchant's timeout. */
const HANGS_FOR_MS = 100;

const MERCHANTS: ReadonlySet<Step['do']> = new Set([
  'create',
  'concurrent_payins',
  'repeat',
  'payout',
  'payout_then_cancel',
  'concurrent_payouts',
  'look_up',
  'start_attempt',
  'concurrent_attempts',
]);

/** @throws InvariantViolation when the step or the check after it finds one */
export async function takeStep(history: History, step: Step): Promise<void> {
  // The step waits for a merchant's request, and that request may be the one that hangs.
  const timer = MERCHANTS.has(step.do)
    ? setTimeout(() => void releaseHangingCalls(history), HANGS_FOR_MS)
    : undefined;
  try {
    await perform(history, step);
  } finally {
    clearTimeout(timer);
  }
  if (step.awaitIdle === true) {
    await waitUntilIdle(history);
    await history.check('idle');
  } else {
    await history.check('any');
  }
}

function perform(history: History, step: Step): Promise<void> {
  switch (step.do) {
    case 'create':
      return create(history, step);
    case 'repeat':
      return repeat(history, step);
    case 'concurrent_payins':
      return createConcurrently(history, step);
    case 'pay':
      return pay(history, step);
    case 'stray':
      return stray(history, step);
    case 'end':
      return end(history, step);
    case 'fault':
      return fault(history, step);
    case 'clear':
      return clear(history);
    case 'shift':
      return shift(history, step);
    case 'near_expiry':
      return nearExpiry(history, step);
    case 'race':
      return race(history, step);
    case 'contend':
      return contend(history, step);
    case 'accept':
      return accept(history, step);
    case 'settle':
      return settle(history);
    case 'read':
      return read(history, step);
    case 'balance':
      return balance(history);
    case 'payout':
      return payout(history, step);
    case 'payout_then_cancel':
      return payoutThenCancel(history, step);
    case 'concurrent_payouts':
      return payoutsConcurrently(history, step);
    case 'competing_payouts':
      return competingPayouts(history, step);
    case 'repeat_payout':
      return repeatPayout(history, step);
    case 'cancel':
      return cancel(history, step);
    case 'look_up':
      return lookUp(history, step);
    case 'directory':
      return directory(history, step);
    case 'end_order':
      return endOrder(history, step);
    case 'read_payout':
      return readPayout(history, step);
    case 'pause':
      return pause(history);
    case 'resume':
      return resume(history);
    case 'arm_workers':
      return armWorkers(history, step.failpoint);
    case 'await_worker_death':
      return awaitWorkerDeath(history);
    case 'lock':
      return lock(history, step);
    case 'await_lock_waiters':
      return awaitLockWaiters(history, step.count);
    case 'await_faults':
      return awaitFaults(history, step.count);
    case 'await_acknowledged':
      return awaitAcknowledged(history);
    case 'release_locks':
      return releaseLocks(history);
    case 'kill_workers':
      return killWorkers(history);
    case 'age_leases':
      return ageLeases(history);
    default:
      return performLinkStep(history, step);
  }
}

function performLinkStep(history: History, step: LinkAction): Promise<void> {
  switch (step.do) {
    case 'create_link':
      return createLink(history, step);
    case 'start_attempt':
      return startAttempt(history, step);
    case 'concurrent_attempts':
      return startConcurrently(history, step);
    case 'change_method':
      return changeMethod(history, step);
    case 'pay_attempt':
      return payAttempt(history, step);
    case 'pay_two_attempts':
      return payTwoAttempts(history, step);
    case 'close_link':
      return closeLink(history, step);
    case 'read_link':
      return readLink(history, step);
  }
}
