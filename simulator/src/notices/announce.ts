import { randomBytes, randomUUID } from 'node:crypto';
import { newEndToEndId } from '../breb/end-to-end-id.ts';
import { type Fault, nextFault, noteApplied } from '../control/fault.store.ts';
import { type Deps, record } from '../deps.ts';
import type { JournalEntry } from '../journal-entry.ts';
import { KEY_LETTERS, randomText } from '../random-text.ts';
import { fromCents, toCents } from '../wire.ts';
import { storeNotice } from './notice.store.ts';
import type { QueuedNotice, RailNotice } from './notice.ts';

/** `silent`: nobody is told. `twice`: told twice, as by the fault `duplicate`. */
export type Telling = 'once' | 'twice' | 'silent';

/**
 * Journals what happened together with the notice of it, and sends the notice once both are on the disk.
 * Faults of notices strike here, one notice each, so that a restart finds them in the journal.
 */
export async function announce(
  deps: Deps,
  happened: readonly [JournalEntry, ...JournalEntry[]],
  told: RailNotice,
  telling: Telling = 'once',
): Promise<void> {
  if (telling === 'silent') return record(deps, ...happened);
  const { state, sender } = deps;
  const [{ at }] = happened;
  const fault = strike(deps, told);
  const queued = noticesUnder(fault, told, telling);
  const delayMs = fault?.fault === 'slow' ? fault.ms : 0;
  const waiting = queued.map((notice) => storeNotice(state.notices, notice, delayMs));
  const applied = fault === null ? [] : [appliedLine(at, fault)];
  const lines = queued.map((notice): JournalEntry => ({ at, kind: 'notice.queued', ...notice }));
  await record(deps, ...happened, ...applied, ...lines);
  sender.offer(waiting);
}

function appliedLine(at: string, { id, fault, rail }: Fault): JournalEntry {
  return { at, kind: 'fault.applied', id, fault, rail, operation: 'notice' };
}

function strike({ state }: Deps, { rail, notice }: RailNotice): Fault | null {
  // A notice without an amount cannot say another one: the fault waits for one that can.
  const canStrike = ({ fault }: Fault) => fault !== 'wrong-amount' || notice.amount !== null;
  const fault = nextFault(state.faults, rail, 'notice', canStrike);
  if (fault !== null) noteApplied(state.faults, fault.id);
  return fault;
}

function noticesUnder(fault: Fault | null, told: RailNotice, telling: Telling): QueuedNotice[] {
  if (fault === null) return [{ ...told, fault: telling === 'twice' ? 'duplicate' : null }];
  switch (fault.fault) {
    case 'lost-notice':
      return [];
    case 'unknown-id':
      return [
        { ...ofNobody(told), fault: 'unknown-id' },
        { ...told, fault: null },
      ];
    case 'wrong-amount':
      return [{ ...withMore(told), fault: 'wrong-amount' }];
    default:
      return [{ ...told, fault: fault.fault }];
  }
}

const PESO_CENTS = 100n;

function withMore({ rail, notice }: RailNotice): Omit<QueuedNotice, 'fault'> {
  const amount = fromCents(toCents(notice.amount ?? '0.00') + PESO_CENTS);
  return { rail, notice: { ...notice, amount } };
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The same story of a key, order or reference that was never seen. Every id is fresh: nothing may lead to the true one. */
function ofNobody(told: RailNotice): Omit<QueuedNotice, 'fault'> {
  const noticeId = randomUUID();
  if (told.rail === 'PSE') {
    const reference = randomText(CROCKFORD, 32);
    const trazabilityCode = String(randomBytes(4).readUInt32BE());
    return {
      rail: 'PSE',
      notice: { ...told.notice, noticeId, reference, transactionId: randomUUID(), trazabilityCode },
    };
  }
  const { notice } = told;
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
