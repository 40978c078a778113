import type { History } from './history.ts';
import type { KnownPayin } from './known-payin.ts';
import type { PayCall } from './payout-step.ts';
import type { Rail } from './rail.ts';
import type { Call, Ending, Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

const MORE_CENTS = 12_345;

export async function pay(history: History, step: Omit<StepOf<'pay'>, 'do'>): Promise<void> {
  const payin = history.payin(step.nth);
  if (!payin) return;
  const { control } = history.world;
  if (payin.rail === 'PSE') {
    const end = { reference: payin.railReference, state: 'OK' as const, anyway: step.anyway };
    for (let time = 0; time < step.times; time += 1) await control.endTransaction(end);
    return;
  }
  const payment = {
    key: payin.railReference,
    amount: pesos(toAmount(payin, step.share)),
    anyway: step.anyway,
  };
  await control.pay(...Array.from({ length: step.times }, () => payment));
}

function toAmount({ cents }: KnownPayin, share: 'full' | 'less' | 'more'): number {
  if (share === 'full') return cents;
  return share === 'less' ? Math.ceil(cents / 2) : cents + MORE_CENTS;
}

export async function stray(history: History, { cents }: StepOf<'stray'>): Promise<void> {
  const key = `@STRAY${history.world.freshName().toUpperCase().replaceAll('-', '')}`;
  await history.world.control.pay({ key, amount: pesos(cents), anyway: true });
}

const KEY_ENDS = {
  refused: { outcome: 'REJECTED', code: '4016' },
  canceled: { outcome: 'CANCELED' },
  limit: { outcome: 'REJECTED', code: '4013' },
  failed: { outcome: 'REJECTED', code: '4011' },
} as const satisfies Record<Ending, object>;
const TRANSACTION_ENDS = {
  refused: { state: 'NOT_AUTHORIZED', reason: '11' },
  canceled: { state: 'NOT_AUTHORIZED', reason: '1' },
  limit: { state: 'NOT_AUTHORIZED', reason: '8' },
  failed: { state: 'FAILED', reason: '10' },
} as const satisfies Record<Ending, object>;

export async function end(history: History, { nth, how, anyway }: Omit<StepOf<'end'>, 'do'>): Promise<void> {
  const payin = history.payin(nth);
  if (!payin) return;
  const { control } = history.world;
  if (payin.rail === 'BRE_B') await control.endKey({ key: payin.railReference, ...KEY_ENDS[how], anyway });
  else await control.endTransaction({ reference: payin.railReference, ...TRANSACTION_ENDS[how], anyway });
}

const PAY_OPERATIONS = { order: 'order', 'order-query': 'order-query', resolve: 'resolve' } as const;
const OPERATIONS: Readonly<Record<Rail, Readonly<Record<Call | PayCall | 'notice', string>>>> = {
  BRE_B: { open: 'register', query: 'query', close: 'close', notice: 'notice', ...PAY_OPERATIONS },
  // PSE has no close call.
  PSE: { open: 'create', query: 'query', close: 'query', notice: 'notice', ...PAY_OPERATIONS },
};
const SLOW_MS = 150;

export async function fault(history: History, step: StepOf<'fault'>): Promise<void> {
  const { control } = history.world;
  const { rail, on, times } = step;
  const holdsNotices = on === 'notice' && step.fault === 'down';
  const id = await control.addFault({
    rail,
    operation: OPERATIONS[rail][on],
    fault: step.fault,
    ms: SLOW_MS,
    ...('code' in step ? { code: step.code } : {}),
    ...(holdsNotices ? {} : { times }),
  });
  if (step.fault === 'hang') history.hanging.push(id);
  if (holdsNotices) history.heldRails.add(rail);
}

export async function clear(history: History): Promise<void> {
  await history.world.control.clearFaults();
  history.hanging.length = 0;
  history.heldRails.clear();
}

/** Formats pesos with two decimals without using floats. */
function pesos(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
