import { type Directory, emptyDirectory, storeListing, storeResolution } from './breb/directory.store.ts';
import {
  emptyKeyStore,
  type KeyStore,
  storeClosing,
  storeEnd,
  storeLatePayer,
  storePayment,
  storeRegistration,
} from './breb/key.store.ts';
import {
  emptyOrderStore,
  type Order,
  type OrderStore,
  storeExecution,
  storeOrder,
  storeRejection,
} from './breb/order.store.ts';
import { type CallCounts, countEntry, emptyCallCounts } from './call-counts.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import {
  addFault,
  emptyFaultStore,
  type FaultStore,
  markFaultApplied,
  removeFaults,
} from './control/fault.store.ts';
import { type Executions, emptyExecutions } from './executions.ts';
import type { JournalEntry } from './journal-entry.ts';
import {
  emptyNoticeStore,
  type NoticeStore,
  storeAcknowledged,
  storeAttempt,
  storeNotice,
} from './notices/notice.store.ts';
import {
  emptyTransactionStore,
  storeDecision,
  storeLaterApproval,
  storeOpening,
  storeTransaction,
  type Transaction,
  type TransactionStore,
} from './pse/transaction.store.ts';
import { emptySchedule, type Schedule } from './schedule.ts';
import type { ReceivedTraceparent } from './traceparents.ts';

/** The state of the simulator: maps in memory, rebuilt from the journal at startup. */
export type State = {
  readonly clock: Clock;
  readonly keys: KeyStore;
  readonly directory: Directory;
  readonly orders: OrderStore;
  readonly transactions: TransactionStore;
  readonly executions: Executions;
  readonly notices: NoticeStore;
  readonly schedule: Schedule;
  readonly faults: FaultStore;
  readonly counts: CallCounts;
  /** Of recent calls, oldest first. They change nothing, so they are not journaled. */
  readonly traceparents: ReceivedTraceparent[];
};

export function emptyState({ orderMs }: Pick<Config, 'orderMs'>): State {
  const schedule = emptySchedule();
  const executions = emptyExecutions();
  return {
    clock: { shiftMs: 0 },
    keys: emptyKeyStore(schedule, executions),
    directory: emptyDirectory(),
    orders: emptyOrderStore(schedule, orderMs),
    transactions: emptyTransactionStore(schedule, executions),
    executions,
    notices: emptyNoticeStore(),
    schedule,
    faults: emptyFaultStore(),
    counts: emptyCallCounts(),
    traceparents: [],
  };
}

/** Applies one journal entry to the state, with the same functions as the live calls. */
export function replayEntry(state: State, entry: JournalEntry): void {
  countEntry(state.counts, entry);
  switch (entry.kind) {
    case 'breb.register':
      for (const row of entry.keys) storeRegistration(state.keys, row, entry.at);
      break;
    case 'breb.close':
      for (const key of entry.keys) storeClosing(state.keys, key, entry.at);
      break;
    case 'breb.paid': {
      const { executionId, endToEndId, amount, at } = entry;
      storePayment(state.keys, entry.key, { executionId, endToEndId, amount, at });
      break;
    }
    case 'breb.ended':
      if (!entry.contradicts) {
        storeEnd(state.keys, entry.key, { outcome: entry.outcome, code: entry.code }, entry.at);
      }
      break;
    case 'breb.late-payer':
      storeLatePayer(state.keys, entry.key, entry.amount);
      break;
    case 'breb.resolve':
      if (entry.resolutionId !== null && entry.holder) {
        const { key, holder, at } = entry;
        storeResolution(state.directory, entry.resolutionId, { key, holder, at });
      }
      break;
    case 'breb.directory':
      storeListing(state.directory, entry.key, entry);
      break;
    case 'breb.orders':
      for (const row of entry.orders) storeOrder(state.orders, row, entry.at);
      break;
    case 'breb.executed':
      storeExecution(state.orders, getOrder(state, entry.endToEndId), entry.executionId, entry.at);
      break;
    case 'breb.order-ended':
      if (entry.code !== null && !entry.contradicts) {
        storeRejection(state.orders, getOrder(state, entry.endToEndId), entry.code, entry.at);
      }
      break;
    case 'pse.create':
      // Journals of earlier simulator versions lack these fields.
      if (entry.created !== null) {
        storeTransaction(state.transactions, {
          ...entry.created,
          openedAt: entry.created.openedAt ?? null,
          approvesAt: entry.created.approvesAt ?? null,
          merchantName: entry.created.merchantName ?? null,
        });
      }
      break;
    case 'pse.opened':
      storeOpening(state.transactions, getTransaction(state, entry.reference), entry.at);
      break;
    case 'pse.left':
      storeLaterApproval(state.transactions, getTransaction(state, entry.reference), entry.approvesAt);
      break;
    case 'pse.ended':
      storeDecision(state.transactions, getTransaction(state, entry.reference), entry);
      break;
    case 'notice.queued':
      storeNotice(state.notices, { rail: entry.rail, notice: entry.notice, fault: entry.fault });
      break;
    case 'notice.acknowledged':
      storeAcknowledged(state.notices, entry.noticeIds);
      break;
    case 'notice.attempt':
      storeAttempt(state.notices, entry.noticeIds);
      break;
    case 'notice.target':
      state.notices.urls = entry.urls;
      break;
    case 'fault.added':
      addFault(state.faults, { ...entry.fault });
      break;
    case 'fault.removed':
      removeFaults(state.faults, entry.id);
      break;
    case 'fault.applied':
      markFaultApplied(state.faults, entry.id);
      break;
    case 'time.shifted':
      state.clock.shiftMs = entry.shiftMs;
      break;
    case 'breb.token':
    case 'breb.query':
    case 'breb.order-query':
    case 'pse.banks':
    case 'pse.query':
    case 'rail.list':
    case 'call.refused':
      break;
    default:
      throw new Error(
        `unknown journal kind ${JSON.stringify(entry satisfies never)}: written by a newer simulator?`,
      );
  }
}

function getTransaction({ transactions }: State, reference: string): Transaction {
  const found = transactions.byReference.get(reference);
  if (found === undefined)
    throw new Error(`the journal refers to transaction ${reference} before its creation`);
  return found;
}

function getOrder({ orders }: State, endToEndId: string): Order {
  const found = orders.byEndToEndId.get(endToEndId);
  if (found === undefined) throw new Error(`the journal refers to order ${endToEndId} before its intake`);
  return found;
}
