import type { JournalEntry } from './journal-entry.ts';
import { OPERATIONS, type Operation, type Rail } from './operations.ts';

type Counts = Record<Rail, Record<string, number>>;

/** `calls` are all that arrived; `refused` (401, 400) and `faulted` are among them. */
export type CallCounts = { readonly calls: Counts; readonly refused: Counts; readonly faulted: Counts };

export function noCalls(): CallCounts {
  return { calls: zeroes(), refused: zeroes(), faulted: zeroes() };
}

function zeroes(): Counts {
  const of = (rail: Rail) => Object.fromEntries(OPERATIONS[rail].map((operation) => [operation, 0]));
  return { BRE_B: of('BRE_B'), PSE: of('PSE') };
}

/** Counted from journal entries, live and on replay alike, so that a restart keeps the numbers. */
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
    case 'call.refused':
      add(counts.calls, entry.rail, entry.operation);
      add(counts.refused, entry.rail, entry.operation);
      break;
    case 'fault.applied':
      // A fault of a notice strikes no call.
      if (entry.operation === 'notice') break;
      add(counts.faulted, entry.rail, entry.operation);
      // `slow` and `lost-answer` carry the call out, and its own line counts it.
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
