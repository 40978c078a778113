// Made by `npm run generate`.

import type { PayinStatus, PaymentLinkStatus, PayoutStatus, Rail } from './schemas.ts';

export interface ListPayinsQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Payins per page, 1 to 100. */
  pageSize?: number | undefined;
  /** Only payins with this status. */
  status?: PayinStatus | undefined;
  /** Only payins on this rail. */
  rail?: Rail | undefined;
  /**
   * Only the payin with this reference.
   * 1 to 255 characters.
   */
  reference?: string | undefined;
  /** Only payins of this payment link. */
  paymentLinkId?: string | undefined;
  /** Created at or after this time. */
  createdFrom?: string | Date | undefined;
  /** Created before this time. */
  createdTo?: string | Date | undefined;
}

export interface LookUpBrebKeyQuery {
  /**
   * Expected name of the holder.
   * 1 to 120 characters.
   */
  name?: string | undefined;
  /**
   * Expected document number of the holder.
   * 1 to 40 characters.
   */
  documentNumber?: string | undefined;
}

export interface ListPayoutsQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Payouts per page, 1 to 100. */
  pageSize?: number | undefined;
  /** Only payouts with this status. */
  status?: PayoutStatus | undefined;
  /** Only payouts on this rail. */
  rail?: 'BRE_B' | undefined;
  /**
   * Only the payout with this reference.
   * 1 to 255 characters.
   */
  reference?: string | undefined;
  /**
   * Only payouts to this key.
   * At most 200 characters.
   */
  keyString?: string | undefined;
  /** Created at or after this time. */
  createdFrom?: string | Date | undefined;
  /** Created before this time. */
  createdTo?: string | Date | undefined;
}

export interface ListPaymentLinksQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Links per page, 1 to 100. */
  pageSize?: number | undefined;
  /** Only links with this status. */
  status?: PaymentLinkStatus | undefined;
  /** Only links restricted to this rail. */
  rail?: Rail | undefined;
  /**
   * Only the link with this reference.
   * 1 to 255 characters.
   */
  reference?: string | undefined;
  /** Created at or after this time. */
  createdFrom?: string | Date | undefined;
  /** Created before this time. */
  createdTo?: string | Date | undefined;
}

export interface ListLedgerEntriesQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Entries per page, 1 to 100. */
  pageSize?: number | undefined;
  /** Only entries that debit or credit this account. */
  account?: 'AVAILABLE' | 'PENDING' | 'HELD' | undefined;
  /** Posted at or after this time. */
  createdFrom?: string | Date | undefined;
  /** Posted before this time. */
  createdTo?: string | Date | undefined;
}

export interface ListWebhookDeliveriesQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Deliveries per page, 1 to 100. */
  pageSize?: number | undefined;
}

export interface ListEventsQuery {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | undefined;
  /** Events per page, 1 to 100. */
  pageSize?: number | undefined;
  /** Only events with this name. */
  event?:
    | 'payin.confirmed'
    | 'payin.canceled'
    | 'payin.declined'
    | 'payout.confirmed'
    | 'payout.canceled'
    | 'payout.declined'
    | 'paymentlink.completed'
    | 'paymentlink.expired'
    | 'api_key.used_from_new_network'
    | 'webhook.test'
    | undefined;
  /** Only events of this payin, payout or payment link. */
  resourceId?: string | undefined;
  /** Created at or after this time. */
  createdFrom?: string | Date | undefined;
  /** Created before this time. */
  createdTo?: string | Date | undefined;
}

export interface StreamEventsQuery {
  /** Only events with this name. */
  event?:
    | 'payin.confirmed'
    | 'payin.canceled'
    | 'payin.declined'
    | 'payout.confirmed'
    | 'payout.canceled'
    | 'payout.declined'
    | 'paymentlink.completed'
    | 'paymentlink.expired'
    | 'api_key.used_from_new_network'
    | 'webhook.test'
    | undefined;
  /** Identifier of the last event you received, if you cannot send `Last-Event-ID`. */
  after?: string | undefined;
}
