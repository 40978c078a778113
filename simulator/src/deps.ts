import { countEntry } from './call-counts.ts';
import type { Config } from './config.ts';
import type { Journal } from './journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { WaitingNotice } from './notices/notice.store.ts';
import type { State } from './state.ts';

export type Deps = {
  readonly config: Config;
  readonly state: State;
  readonly journal: Journal;
  readonly sender: { offer(notices: Iterable<WaitingNotice>): void };
  /** Aborted on shutdown: ends the delays of faults. */
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
};

/** Resolves when the entries are on disk, all or none. No answer or notice may be sent before. */
export function record(
  deps: Pick<Deps, 'state' | 'journal'>,
  ...entries: readonly [JournalEntry, ...JournalEntry[]]
): Promise<void> {
  for (const entry of entries) countEntry(deps.state.counts, entry);
  return deps.journal.append(entries);
}
