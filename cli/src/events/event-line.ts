import type { CaudalEvent } from '@caudal/sdk';
import { showCents } from './pesos.ts';
import type { Screen } from './screen.ts';
import { cut, oneLine } from './table.ts';
import { showTime } from './time.ts';

interface Facts {
  readonly reference: string;
  readonly amount: string;
  readonly status: string;
}

/** What people look for in an event, whatever it is about. */
export function eventFacts({ data }: CaudalEvent): Facts {
  const told: Readonly<Record<string, unknown>> = { ...data };
  const cents = told['confirmedAmountInCents'] ?? told['amountInCents'] ?? centsOf(told['amount']);
  const error = typeof told['errorCode'] === 'string' ? ` ${told['errorCode']}` : '';
  return {
    reference: typeof told['reference'] === 'string' ? told['reference'] : '',
    amount: typeof cents === 'number' ? `COP ${showCents(cents)}` : '',
    status: typeof told['status'] === 'string' ? told['status'] + error : '',
  };
}

/** Events of links say pesos alone; a decimal text carries them to cents without arithmetic on fractions. */
function centsOf(pesos: unknown): number | null {
  const [, whole = '', decimals = ''] =
    typeof pesos === 'number' ? (/^(\d+)(?:\.(\d{1,2}))?$/.exec(String(pesos)) ?? []) : [];
  return whole === '' ? null : Number(whole + decimals.padEnd(2, '0'));
}

const NAME = 21;
const AMOUNT = 14;

/** Time, event, reference, amount and status, in one line. */
export function eventLine(screen: Screen, event: CaudalEvent): string {
  const { reference, amount, status } = eventFacts(event);
  const [state = '', error = ''] = status.split(' ');
  const time = showTime(new Date(event.createdAt));
  const room = Math.max(8, screen.width - time.length - NAME - AMOUNT - 10 - 8);
  return [
    screen.style('dim', time),
    event.event.padEnd(NAME),
    cut(oneLine(reference), Math.min(room, 28)).padEnd(Math.min(room, 28)),
    amount.padStart(AMOUNT),
    [screen.status(state), error].join(' ').trim(),
  ].join('  ');
}
