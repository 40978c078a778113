import { accept } from './accept-step.ts';
import type { History } from './history.ts';
import { balance, create, read, repeat, twins } from './merchant-steps.ts';
import {
  cancel,
  fleetingPayout,
  payout,
  payoutTwins,
  readPayout,
  repeatPayout,
  rivals,
} from './payout-steps.ts';
import { clear, end, fault, pay, stray } from './rail-steps.ts';
import { directory, endOrder, lookUp } from './receiver-steps.ts';
import { comeToRest, letHangingGo } from './rest.ts';
import {
  acknowledged,
  ageLeases,
  armWorkers,
  contend,
  death,
  hold,
  killWorkers,
  letGo,
  nearExpiry,
  pause,
  race,
  resume,
  settle,
  shift,
  struck,
  waiters,
} from './stage-steps.ts';
import type { Step } from './step.ts';

/** Longer than a call needs to reach the rail, shorter than a merchant waits. */
const HANGS_FOR_MS = 100;

const MERCHANTS: ReadonlySet<Step['do']> = new Set([
  'create',
  'twins',
  'repeat',
  'payout',
  'fleeting payout',
  'payout twins',
  'look up',
]);

/** @throws InvariantViolation when one was broken by it, or is found broken after it */
export async function takeStep(history: History, step: Step): Promise<void> {
  // A merchant's request may be the one that hangs, and it is waited for.
  const timer = MERCHANTS.has(step.do)
    ? setTimeout(() => void letHangingGo(history), HANGS_FOR_MS)
    : undefined;
  try {
    await perform(history, step);
  } finally {
    clearTimeout(timer);
  }
  if (step.quiet === true) {
    await comeToRest(history);
    await history.judge('rest');
  } else {
    await history.judge('any');
  }
}

function perform(history: History, step: Step): Promise<void> {
  switch (step.do) {
    case 'create':
      return create(history, step);
    case 'repeat':
      return repeat(history, step);
    case 'twins':
      return twins(history, step);
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
    case 'near expiry':
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
    case 'fleeting payout':
      return fleetingPayout(history, step);
    case 'payout twins':
      return payoutTwins(history, step);
    case 'rivals':
      return rivals(history, step);
    case 'repeat payout':
      return repeatPayout(history, step);
    case 'cancel':
      return cancel(history, step);
    case 'look up':
      return lookUp(history, step);
    case 'directory':
      return directory(history, step);
    case 'end order':
      return endOrder(history, step);
    case 'read payout':
      return readPayout(history, step);
    case 'pause':
      return pause(history);
    case 'resume':
      return resume(history);
    case 'arm workers':
      return armWorkers(history, step.failpoint);
    case 'await death':
      return death(history);
    case 'hold':
      return hold(history, step);
    case 'await waiters':
      return waiters(history, step.count);
    case 'await struck':
      return struck(history, step.count);
    case 'await acknowledged':
      return acknowledged(history);
    case 'let go':
      return letGo(history);
    case 'kill workers':
      return killWorkers(history);
    case 'age claims':
      return ageLeases(history);
  }
}
