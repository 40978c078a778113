import type { CaudalEvent } from '@caudal/sdk';
import type { Screen } from '../output/screen.ts';
import { stripControlCharacters, truncate } from '../output/table.ts';
import { formatCents } from '../requests/pesos.ts';
import { formatTimeOfDay } from '../requests/time.ts';

interface EventSummary {
  /** The network for an event about an API key. */
  readonly reference: string;
  readonly amount: string;
  /** The API key for an event about one. */
  readonly status: string;
}

/** The fields shown for an event of any resource. */
export function summarizeEvent({ data }: CaudalEvent): EventSummary {
  const fields: Readonly<Record<string, unknown>> = { ...data };
  const cents = fields['confirmedAmountInCents'] ?? fields['amountInCents'] ?? pesosToCents(fields['amount']);
  const key = typeof fields['apiKeyId'] === 'string' ? `key ${fields['apiKeyId']}` : '';
  const error = typeof fields['errorCode'] === 'string' ? ` ${fields['errorCode']}` : '';
  return {
    reference: textOf(fields['reference'] ?? fields['network']),
    amount: typeof cents === 'number' ? `COP ${formatCents(cents)}` : '',
    status: typeof fields['status'] === 'string' ? fields['status'] + error : key,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Link events have only pesos. Converts through decimal text, without floating-point arithmetic. */
function pesosToCents(pesos: unknown): number | null {
  const [, whole = '', decimals = ''] =
    typeof pesos === 'number' ? (/^(\d+)(?:\.(\d{1,2}))?$/.exec(String(pesos)) ?? []) : [];
  return whole === '' ? null : Number(whole + decimals.padEnd(2, '0'));
}

const NAME = 21;
const AMOUNT = 14;

/** One line with time, event, reference, amount and status. */
export function eventLine(screen: Screen, event: CaudalEvent): string {
  const { reference, amount, status } = summarizeEvent(event);
  const [state = '', error = ''] = status.split(' ');
  const time = formatTimeOfDay(new Date(event.createdAt));
  const room = Math.max(8, screen.width - time.length - NAME - AMOUNT - 10 - 8);
  return [
    screen.style('dim', time),
    event.event.padEnd(NAME),
    truncate(stripControlCharacters(reference), Math.min(room, 28)).padEnd(Math.min(room, 28)),
    amount.padStart(AMOUNT),
    [screen.status(state), error].join(' ').trim(),
  ].join('  ');
}
