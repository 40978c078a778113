import type { NoListing } from './breb/directory.store.ts';
import type { Holder, Listing } from './breb/directory.ts';
import type { KeyEnd, RegistrationRow } from './breb/key.store.ts';
import type { Order, OrderRow } from './breb/order.store.ts';
import type { InjectedFault } from './control/fault.store.ts';
import type { QueuedNotice } from './notices/notice.ts';
import type { FaultTarget, Operation, Rail } from './operations.ts';
import type { CreateCode, DecidedState, Transaction } from './pse/transaction.store.ts';

/**
 * One journal entry: what changed and what was answered. An entry records outcomes, not requests, so that
 * replaying an old journal with newer rules restores the state that clients were given.
 * Lists contain rows instead of objects: an entry may carry 500 keys.
 */
export type JournalEntry = { readonly at: string } & (
  | { readonly kind: 'breb.token'; readonly clientId: string; readonly expiresAt: string }
  | { readonly kind: 'breb.register'; readonly keys: readonly RegistrationRow[] }
  | { readonly kind: 'breb.close'; readonly keys: readonly string[] }
  | { readonly kind: 'breb.query'; readonly results: readonly (readonly [key: string, status: string])[] }
  | {
      readonly kind: 'breb.resolve';
      readonly key: string;
      readonly resolutionId: string | null;
      /** Missing in journals of the first simulator version, whose resolutions have expired. */
      readonly holder?: Holder | null;
      readonly code: string | null;
    }
  | ({ readonly kind: 'breb.directory'; readonly key: string } & (Listing | NoListing))
  | { readonly kind: 'breb.orders'; readonly orders: readonly OrderRow[] }
  | {
      readonly kind: 'breb.executed';
      readonly endToEndId: string;
      readonly executionId: string;
      readonly key: string;
      readonly amount: string;
      /** The order had been rejected before. */
      readonly anyway: boolean;
    }
  | {
      readonly kind: 'breb.order-ended';
      readonly endToEndId: string;
      readonly outcome: Exclude<Order['status'], 'PROCESSING'>;
      readonly code: string | null;
      /** The order had already ended. */
      readonly contradicts: boolean;
    }
  | {
      readonly kind: 'breb.order-query';
      readonly results: readonly (readonly [
        endToEndId: string | null,
        internalId: string | null,
        status: string,
      ])[];
    }
  | {
      readonly kind: 'breb.paid';
      readonly key: string;
      readonly executionId: string;
      readonly endToEndId: string;
      readonly amount: string;
      readonly anyway: boolean;
    }
  | { readonly kind: 'breb.late-payer'; readonly key: string; readonly amount: string }
  | {
      readonly kind: 'breb.ended';
      readonly key: string;
      readonly outcome: KeyEnd['outcome'];
      readonly code: string | null;
      /** The outcome contradicts the stored status, which did not change. */
      readonly contradicts: boolean;
    }
  | { readonly kind: 'pse.banks' }
  | {
      readonly kind: 'pse.create';
      readonly reference: string;
      readonly returnCode: CreateCode;
      /** Null when no transaction was created: a rejection, or a repeat of a known reference. */
      readonly created: Transaction | null;
    }
  | { readonly kind: 'pse.query'; readonly results: readonly (readonly [reference: string, state: string])[] }
  | { readonly kind: 'pse.opened'; readonly reference: string }
  | { readonly kind: 'pse.left'; readonly reference: string; readonly approvesAt: string }
  | {
      readonly kind: 'pse.ended';
      readonly reference: string;
      readonly transactionId: string;
      readonly state: DecidedState;
      readonly reason: string | null;
      /** The transaction had already been decided. */
      readonly contradicts: boolean;
    }
  | ({ readonly kind: 'notice.queued' } & QueuedNotice)
  | { readonly kind: 'notice.acknowledged'; readonly rail: Rail; readonly noticeIds: readonly string[] }
  | {
      /** A failed attempt; `status` is null when there was no response. */
      readonly kind: 'notice.attempt';
      readonly rail: Rail;
      readonly noticeIds: readonly string[];
      readonly status: number | null;
    }
  | { readonly kind: 'notice.target'; readonly urls: readonly string[] }
  | {
      readonly kind: 'call.refused';
      readonly rail: Rail;
      readonly operation: Operation;
      readonly status: number;
      readonly code: string;
    }
  | {
      readonly kind: 'rail.list';
      readonly rail: Rail;
      readonly operation: Operation;
      readonly since: string;
      readonly count: number;
    }
  | { readonly kind: 'fault.added'; readonly fault: InjectedFault }
  | { readonly kind: 'fault.removed'; readonly id: string | null }
  | {
      readonly kind: 'fault.applied';
      readonly id: string;
      readonly fault: InjectedFault['fault'];
      readonly rail: Rail;
      readonly operation: FaultTarget;
    }
  | { readonly kind: 'time.shifted'; readonly shiftMs: number }
);

export type JournalLine = JournalEntry & { readonly seq: number };
