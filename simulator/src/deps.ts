import { countEntry } from './call-counts.ts';
import type { Config } from './config.ts';
import type { Journal } from './journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { State } from './state.ts';

export type Deps = {
  readonly config: Config;
  readonly state: State;
  readonly journal: Journal;
  /** Aborted when the process is told to stop: waits made by faults end. */
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
};

/** Resolves when the entry is on the disk. No answer may leave before. */
export function record(deps: Deps, entry: JournalEntry): Promise<void> {
  countEntry(deps.state.counts, entry);
  return deps.journal.append(entry);
}
