import { randomBytes, randomUUID } from 'node:crypto';
import { newEndToEndId } from '../breb/end-to-end-id.ts';
import { type InjectedFault, markFaultApplied, nextFault } from '../control/fault.store.ts';
import { type Deps, record } from '../deps.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { KEY_LETTERS, randomText } from '../random-text.ts';
import { fromCents, toCents } from '../wire.ts';
import { storeNotice } from './notice.store.ts';
import type { QueuedNotice, RailNotice } from './notice.ts';

/** `silent`: no notice. `twice`: the notice is sent twice, as with the fault `duplicate`. */
export type NoticeMode = 'once' | 'twice' | 'silent';

/**
 * Journals the entries together with their notice, and sends the notice once all are on disk.
 * Notice faults apply here, one per notice, so that a restart finds them in the journal.
 */
export async function announce(
  deps: Deps,
  entries: readonly [JournalEntry, ...JournalEntry[]],
  railNotice: RailNotice,
  noticeMode: NoticeMode = 'once',
): Promise<void> {
  if (noticeMode === 'silent') return record(deps, ...entries);
  const { state, sender } = deps;
  const [{ at }] = entries;
  const fault = takeNoticeFault(deps, railNotice);
  const queued = applyNoticeFault(fault, railNotice, noticeMode);
  const delayMs = fault?.fault === 'slow' ? fault.ms : 0;
  const waiting = queued.map((notice) => storeNotice(state.notices, notice, delayMs));
  const applied = fault === null ? [] : [toFaultAppliedEntry(at, fault)];
  const queuedEntries = queued.map((notice): JournalEntry => ({ at, kind: 'notice.queued', ...notice }));
  await record(deps, ...entries, ...applied, ...queuedEntries);
  sender.offer(waiting);
}

function toFaultAppliedEntry(at: string, { id, fault, rail }: InjectedFault): JournalEntry {
  return { at, kind: 'fault.applied', id, fault, rail, operation: 'notice' };
}

function takeNoticeFault({ state }: Deps, { rail, notice }: RailNotice): InjectedFault | null {
  // A notice without an amount cannot carry a wrong one: the fault waits for a notice with an amount.
  const canApply = ({ fault }: InjectedFault) => fault !== 'wrong-amount' || notice.amount !== null;
  const fault = nextFault(state.faults, rail, 'notice', canApply);
  if (fault !== null) markFaultApplied(state.faults, fault.id);
  return fault;
}

function applyNoticeFault(
  fault: InjectedFault | null,
  railNotice: RailNotice,
  noticeMode: NoticeMode,
): QueuedNotice[] {
  if (fault === null) return [{ ...railNotice, fault: noticeMode === 'twice' ? 'duplicate' : null }];
  switch (fault.fault) {
    case 'lost-notice':
      return [];
    case 'unknown-id':
      return [
        { ...withUnknownIds(railNotice), fault: 'unknown-id' },
        { ...railNotice, fault: null },
      ];
    case 'wrong-amount':
      return [{ ...withWrongAmount(railNotice), fault: 'wrong-amount' }];
    default:
      return [{ ...railNotice, fault: fault.fault }];
  }
}

const PESO_CENTS = 100n;

function withWrongAmount({ rail, notice }: RailNotice): Omit<QueuedNotice, 'fault'> {
  const amount = fromCents(toCents(notice.amount ?? '0.00') + PESO_CENTS);
  return { rail, notice: { ...notice, amount } };
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The same notice for an unknown key, order or reference. Replaces every id: none may match the real one. */
function withUnknownIds(railNotice: RailNotice): Omit<QueuedNotice, 'fault'> {
  const noticeId = randomUUID();
  if (railNotice.rail === 'PSE') {
    const reference = randomText(CROCKFORD, 32);
    const trazabilityCode = String(randomBytes(4).readUInt32BE());
    return {
      rail: 'PSE',
      notice: { ...railNotice.notice, noticeId, reference, transactionId: randomUUID(), trazabilityCode },
    };
  }
  const { notice } = railNotice;
  const internalId = randomUUID();
  const executionId = notice.executionId === null ? null : randomUUID();
  const endToEndId = newEndToEndId(notice.at);
  if (!('key' in notice)) {
    return { rail: 'BRE_B', notice: { ...notice, noticeId, internalId, executionId, endToEndId } };
  }
  const key = `@${randomText(KEY_LETTERS, 19)}`;
  const ids = { noticeId, key, internalId, executionId };
  return {
    rail: 'BRE_B',
    notice: { ...notice, ...ids, endToEndId: notice.endToEndId === null ? null : endToEndId },
  };
}
