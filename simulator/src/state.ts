import { type KeyStore, noKeys, storeClosing, storeRegistration } from './breb/key.store.ts';
import { type CallCounts, countEntry, noCalls } from './call-counts.ts';
import type { Clock } from './clock.ts';
import { addFault, type FaultStore, noFaults, noteApplied, removeFaults } from './control/fault.store.ts';
import type { JournalEntry } from './journal-entry.ts';
import { noTransactions, storeTransaction, type TransactionStore } from './pse/transaction.store.ts';

/** Everything the simulator knows: maps in memory, rebuilt from the journal at start. */
export type State = {
  readonly clock: Clock;
  readonly keys: KeyStore;
  readonly transactions: TransactionStore;
  readonly faults: FaultStore;
  readonly counts: CallCounts;
};

export function emptyState(): State {
  return {
    clock: { shiftMs: 0 },
    keys: noKeys(),
    transactions: noTransactions(),
    faults: noFaults(),
    counts: noCalls(),
  };
}

/** Puts one journaled line back into memory, by the same functions that the live calls use. */
export function replayEntry(state: State, entry: JournalEntry): void {
  countEntry(state.counts, entry);
  switch (entry.kind) {
    case 'breb.register':
      for (const row of entry.keys) storeRegistration(state.keys, row, entry.at);
      break;
    case 'breb.close':
      for (const key of entry.keys) storeClosing(state.keys, key, entry.at);
      break;
    case 'pse.create':
      if (entry.created !== null) storeTransaction(state.transactions, entry.created);
      break;
    case 'fault.added':
      addFault(state.faults, { ...entry.fault });
      break;
    case 'fault.removed':
      removeFaults(state.faults, entry.id);
      break;
    case 'fault.applied':
      noteApplied(state.faults, entry.id);
      break;
    case 'time.shifted':
      state.clock.shiftMs = entry.shiftMs;
      break;
    case 'breb.token':
    case 'breb.query':
    case 'breb.resolve':
    case 'pse.banks':
    case 'pse.query':
    case 'call.refused':
      break;
    default:
      throw new Error(
        `unknown journal kind ${JSON.stringify(entry satisfies never)}: written by a newer simulator?`,
      );
  }
}
