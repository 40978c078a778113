import type { JournalEntry } from './journal-entry.ts';
import { OPERATIONS, type Operation, type Rail } from './operations.ts';

type Counts = Record<Rail, Record<string, number>>;

/** `calls` counts all received calls, including `refused` (401, 400) and `faulted` ones. */
export type CallCounts = { readonly calls: Counts; readonly refused: Counts; readonly faulted: Counts };

export function emptyCallCounts(): CallCounts {
  return { calls: zeroes(), refused: zeroes(), faulted: zeroes() };
}

function zeroes(): Counts {
  const zeroPerOperation = (rail: Rail) =>
    Object.fromEntries(OPERATIONS[rail].map((operation) => [operation, 0]));
  return { BRE_B: zeroPerOperation('BRE_B'), PSE: zeroPerOperation('PSE') };
}

/** Counts journal entries, live and on replay, so that the numbers survive a restart. */
export function countEntry(counts: CallCounts, entry: JournalEntry): void {
  switch (entry.kind) {
    case 'breb.token':
    case 'breb.register':
    case 'breb.close':
    case 'breb.query':
    case 'breb.resolve':
    case 'breb.order-query':
      add(counts.calls, 'BRE_B', entry.kind.slice('breb.'.length) as Operation);
      break;
    case 'breb.orders':
      add(counts.calls, 'BRE_B', 'order');
      break;
    case 'pse.banks':
    case 'pse.create':
    case 'pse.query':
      add(counts.calls, 'PSE', entry.kind.slice('pse.'.length) as Operation);
      break;
    case 'rail.list':
      add(counts.calls, entry.rail, entry.operation);
      break;
    case 'call.refused':
      add(counts.calls, entry.rail, entry.operation);
      add(counts.refused, entry.rail, entry.operation);
      break;
    case 'fault.applied':
      // A notice fault affects no call.
      if (entry.operation === 'notice') break;
      add(counts.faulted, entry.rail, entry.operation);
      // With `slow` and `lost-answer` the call is executed and counted by its own entry.
      if (entry.fault !== 'slow' && entry.fault !== 'lost-answer') {
        add(counts.calls, entry.rail, entry.operation);
      }
      break;
    default:
      break;
  }
}

function add(counts: Counts, rail: Rail, operation: Operation): void {
  counts[rail][operation] = (counts[rail][operation] ?? 0) + 1;
}
