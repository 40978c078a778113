import { countEntry } from './call-counts.ts';
import type { Config } from './config.ts';
import type { Journal } from './journal.ts';
import type { JournalEntry } from './journal-entry.ts';
import type { NoticeSender } from './notices/notice-sender.ts';
import type { State } from './state.ts';

export type Deps = {
  readonly config: Config;
  readonly state: State;
  readonly journal: Journal;
  readonly sender: Pick<NoticeSender, 'offer'>;
  /** Aborted when the process is told to stop: waits made by faults end. */
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
};

/** Resolves when the entries are on the disk, all or none of them. Neither answer nor notice may leave before. */
export function record(
  deps: Pick<Deps, 'state' | 'journal'>,
  ...entries: readonly [JournalEntry, ...JournalEntry[]]
): Promise<void> {
  for (const entry of entries) countEntry(deps.state.counts, entry);
  return deps.journal.append(entries);
}
