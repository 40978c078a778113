// Made by `npm run generate`.

export type Rail = 'BRE_B' | 'PSE';

export type PayinStatus = 'PENDING' | 'PROCESSING' | 'CONFIRMED' | 'DECLINED' | 'CANCELED';

export type PayoutStatus = 'PROCESSING' | 'CONFIRMED' | 'DECLINED' | 'CANCELED';

export type PaymentLinkStatus = 'PENDING' | 'COMPLETED' | 'EXPIRED';

export type SettlementStatus = 'PENDING_SETTLEMENT' | 'SETTLED' | 'REVERSED';

export type ErrorCode =
  | 'EXPIRED'
  | 'PAYER_CANCELED'
  | 'PAYER_ABANDONED'
  | 'INSUFFICIENT_FUNDS'
  | 'LIMIT_EXCEEDED'
  | 'NETWORK_LIMIT_EXCEEDED'
  | 'ACCOUNT_BLOCKED'
  | 'ACCOUNT_NOT_FOUND'
  | 'ACCOUNT_CLOSED'
  | 'KEY_NOT_FOUND'
  | 'KEY_SUSPENDED'
  | 'KEY_INVALID'
  | 'RECEIVER_MISMATCH'
  | 'BANK_UNAVAILABLE'
  | 'RAIL_TIMEOUT'
  | 'RAIL_REJECTED'
  | 'SUSPECTED_FRAUD'
  | 'INVALID_DATA'
  | 'UNDERPAID';

export type IdType = 'CO_CC' | 'CO_CE' | 'CO_NIT' | 'MXN_RFC' | 'PASSPORT';

export type EventName =
  | 'payin.confirmed'
  | 'payin.canceled'
  | 'payin.declined'
  | 'payout.confirmed'
  | 'payout.canceled'
  | 'payout.declined'
  | 'paymentlink.completed'
  | 'paymentlink.expired';

export type EndpointStatus = 'ENABLED' | 'DISABLED';

export type ProblemCode =
  | 'invalid_request'
  | 'unknown_field'
  | 'malformed_json'
  | 'malformed_request'
  | 'rail_not_enabled'
  | 'lookup_invalid'
  | 'breb_key_invalid'
  | 'cursor_invalid'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'organization_suspended'
  | 'not_found'
  | 'breb_key_not_found'
  | 'method_not_allowed'
  | 'reference_taken'
  | 'idempotency_in_flight'
  | 'endpoint_disabled'
  | 'too_many_endpoints'
  | 'anomaly_resolved'
  | 'anomaly_without_money'
  | 'payout_already_sent'
  | 'payout_ended'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'breb_key_suspended'
  | 'idempotency_mismatch'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'rate_limited'
  | 'too_many_lookups'
  | 'payment_link_completed'
  | 'too_many_streams'
  | 'internal_error'
  | 'overloaded'
  | 'outcome_unknown'
  | 'rail_paused'
  | 'rail_unavailable'
  | 'service_unavailable';

export interface FieldError {
  path: string;
  code: string;
  message: string;
}

export interface PageInfo {
  hasNext: boolean;
  hasPrevious: boolean;
  nextCursor: string | null;
  previousCursor: string | null;
}

export interface Bank {
  /** Goes into `pse.bank`. */
  code: string;
  name: string;
  /** Whether PSE offers it today. A payin for a bank it does not offer is taken, and likely declined. */
  available: boolean;
}

export type LedgerAccount = 'PENDING' | 'AVAILABLE' | 'HELD' | 'RAIL' | 'FEES' | 'SUSPENSE' | 'TREASURY';

export interface PayoutAnomaly {
  id: string;
  /** `SENT_LATE`: money left after it had ended without. `SENT_AGAIN`: money left once more. `CONTRADICTION`: the rail contradicts itself. `UNFOUNDED`: a settlement was announced that the rail knows nothing of. */
  kind: 'SENT_LATE' | 'SENT_AGAIN' | 'CONTRADICTION' | 'UNFOUNDED';
  /** Below zero: money that left. Null when none did. */
  amount: number | null;
  amountInCents: number | null;
  /** `OPEN`: the operator has not decided yet. `RESOLVED`: see `resolution`. */
  status: 'OPEN' | 'RESOLVED';
  /** UTC, with milliseconds. */
  noticedAt: string;
  resolvedAt: string | null;
  /** `CHARGE`: it was taken from your available balance. */
  resolution: 'CHARGE' | 'WRITE_OFF' | 'DISMISS' | null;
}

export interface Delivery {
  id: string;
  eventId: string;
  event: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: DeliveryAttempt[];
  nextAttemptAt: string | null;
}

export interface DeliveryWithEndpoint {
  id: string;
  eventId: string;
  event: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: DeliveryAttempt[];
  nextAttemptAt: string | null;
  webhookEndpointId: string;
}

export interface DeliveryAttempt {
  /** UTC, with milliseconds. */
  at: string;
  /** What you answered; null when there was no answer. */
  statusCode: number | null;
  durationMs: number;
  /** Why there was no answer; null when there was one, whatever its status. The guide on webhooks says what each means and what to do. */
  error: DeliveryError | null;
  /** The first bytes of the answer, 512 at most. */
  answer: string | null;
}

export type DeliveryError =
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'too_large_headers'
  | 'malformed';

export interface AccessToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
}

export type CreatePayin = CreateBrebPayin | CreatePsePayin;

export interface CreateBrebPayin {
  /**
   * Amount in cents of a peso.
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** The only currency. */
  currency: 'COP';
  rail: 'BRE_B';
  /**
   * Your own identifier, unique for ever within your organization.
   * 1 to 255 characters.
   */
  reference: string;
  /** Who pays. Without it a PSE payin asks the payer on our page. */
  inlineCustomer?: Customer | null | undefined;
  /** Required when `rail` is `BRE_B`. */
  breb: {
    /** `SINGLE_USE` returns the key, `QR_CODE` also an image. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /**
     * May be sent; not used by payins.
     * At most 100 characters.
     */
    keyString?: string | null | undefined;
  };
  /**
   * Where the payer returns to. The result comes by events, never by this.
   * At most 2,048 characters.
   */
  callbackUrl?: string | null | undefined;
  pse?: null | undefined;
}

export interface CreatePsePayin {
  /**
   * Amount in cents of a peso.
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** The only currency. */
  currency: 'COP';
  rail: 'PSE';
  /**
   * Your own identifier, unique for ever within your organization.
   * 1 to 255 characters.
   */
  reference: string;
  /** Who pays. Without it a PSE payin asks the payer on our page. */
  inlineCustomer?: Customer | null | undefined;
  /** Required when `rail` is `PSE`. */
  pse: {
    /** Bank code of `GET /pse/banks`. */
    bank: string;
    personType: 'INDIVIDUAL' | 'BUSINESS';
  };
  /**
   * Where the payer returns to. The result comes by events, never by this.
   * At most 2,048 characters.
   */
  callbackUrl?: string | null | undefined;
  breb?: null | undefined;
}

export interface Customer {
  /**
   * Full name.
   * 1 to 120 characters.
   */
  name: string;
  /** Kind of identification document. */
  idType: IdType;
  /**
   * Document number.
   * 3 to 20 characters.
   */
  idNumber: string;
  /** International format with a leading plus sign. */
  phone: string;
  /**
   * E-mail address.
   * At most 254 characters.
   */
  email: string;
}

export type Payin = BrebPayin | PsePayin;

export interface BrebPayin {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'BRE_B';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  /** Data of the rail. */
  sourceData: {
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, which the payer's bank quotes; null until it is paid. */
    endToEndId: string | null;
  };
}

export interface PsePayin {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'PSE';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  /** Data of the rail. */
  sourceData: {
    /** Where the payer goes to pay; null until the bank has answered. */
    pseUrl: string | null;
    bank: string;
    /** The CUS that payer, bank and PSE quote in a claim; null until the bank has answered. */
    cus: string | null;
  };
}

export type PayinListItem = BrebPayinListItem | PsePayinListItem;

export interface BrebPayinListItem {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'BRE_B';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  /** The JSON text of the customer object. */
  inlineCustomer: string | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  /** Data of the rail. */
  sourceData: {
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, which the payer's bank quotes; null until it is paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinListItem {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'PSE';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  /** The JSON text of the customer object. */
  inlineCustomer: string | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  /** Data of the rail. */
  sourceData: {
    /** Where the payer goes to pay; null until the bank has answered. */
    pseUrl: string | null;
    bank: string;
    /** The CUS that payer, bank and PSE quote in a claim; null until the bank has answered. */
    cus: string | null;
  };
}

export type PayinWithAnomalies = BrebPayinWithAnomalies | PsePayinWithAnomalies;

export interface BrebPayinWithAnomalies {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'BRE_B';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  anomalies: PayinAnomaly[];
  /** Data of the rail. */
  sourceData: {
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, which the payer's bank quotes; null until it is paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinWithAnomalies {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  /** What confirmed it: `amount`, unless your organization takes any amount. With `UNDERPAID`: what arrived. */
  confirmedAmount: number | null;
  confirmedAmountInCents: number | null;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail does not list the payment that it notified, and the booking was taken back; it never settles. */
  settlementStatus: SettlementStatus | null;
  rail: 'PSE';
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why it was not confirmed. `UNDERPAID`: less than `amount` arrived, and is held apart. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** From then on it can no longer be paid. */
  expiresAt: string;
  resultAt: string | null;
  chargebackAt: string | null;
  organizationId: string;
  callbackUrl: string | null;
  anomalies: PayinAnomaly[];
  /** Data of the rail. */
  sourceData: {
    /** Where the payer goes to pay; null until the bank has answered. */
    pseUrl: string | null;
    bank: string;
    /** The CUS that payer, bank and PSE quote in a claim; null until the bank has answered. */
    cus: string | null;
  };
}

export interface PayinAnomaly {
  id: string;
  /** `PAID_LATE`: money came after it had ended without. `PAID_AGAIN`: more money came. `UNDERPAID`: less arrived than the amount. `OVERPAID`: what arrived beyond the amount. `CONTRADICTION`: the rail told of an end without money, but it was paid. `UNFOUNDED`: a payment was announced that the rail knows nothing of. `PAYMENT_NOT_LISTED`: the rail notified the payment that confirmed the payin, but its own status does not list it; settlement is held until an operator decides. */
  kind:
    | 'PAID_LATE'
    | 'PAID_AGAIN'
    | 'UNDERPAID'
    | 'OVERPAID'
    | 'CONTRADICTION'
    | 'UNFOUNDED'
    | 'PAYMENT_NOT_LISTED';
  /** Money held apart; null when none came. */
  amount: number | null;
  amountInCents: number | null;
  /** `OPEN`: nothing is decided; money can be accepted. `ACCEPTED`: you took the money, and it is about to be credited. `RESOLVED`: see `resolution`. */
  status: 'OPEN' | 'ACCEPTED' | 'RESOLVED';
  /** UTC, with milliseconds. */
  noticedAt: string;
  resolvedAt: string | null;
  /** `CREDIT`: the money was added to your available balance. `RETURN`: it is sent back to the payer; should that fail, the anomaly is `OPEN` again. `RELEASE`: the payin settles. `REVERSE`: its booking was taken back. `LISTED`: the rail lists the payment after all, and the payin settles. */
  resolution: 'CREDIT' | 'RETURN' | 'DISMISS' | 'RELEASE' | 'REVERSE' | 'LISTED' | null;
}

export interface BrebKeyLookup {
  details: {
    /** The key in its normal form. */
    keyString: string;
    keyType: 'ID' | 'PHONE' | 'EMAIL' | 'ALPHANUMERIC' | 'MERCHANT_CODE';
    /** Masked: the first three letters of each word. */
    name: string;
    documentType: string;
    /** Masked: the last four digits. */
    documentNumber: string;
    bankName: string;
    /** Masked: the last four digits. */
    bankAccountNumber: string;
  };
  /** Send it with the payout as `breb.lookupId`. */
  lookupId: string;
  /** From then on the lookup no longer serves a payout. */
  expiresAt: string;
  /** Only when `name` or `documentNumber` was asked about. */
  match?: {
    name?: 'FULL' | 'PARTIAL' | 'NONE';
    documentNumber?: boolean;
  };
}

export interface CreatePayout {
  /**
   * Amount in cents of a peso.
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** The only currency. */
  currency: 'COP';
  /** The only rail that sends money. */
  rail: 'BRE_B';
  /**
   * Your own identifier, unique for ever within your organization.
   * 1 to 255 characters.
   */
  reference: string;
  /** Who is paid. */
  inlineCustomer: Customer;
  breb: {
    /**
     * The key to pay to, the same that was looked up. It is shown in its normal form.
     * At most 200 characters.
     */
    keyString: string;
    /** Of the lookup this payout must go by. Without it the newest one of the same key that has not expired is used, if there is any. */
    lookupId?: string | null | undefined;
    /** May be sent; not used by payouts. */
    keyType?: 'SINGLE_USE' | 'QR_CODE' | null | undefined;
  };
}

export interface Payout {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayoutStatus;
  rail: 'BRE_B';
  reference: string;
  inlineCustomer: Customer | null;
  /** Why no money was sent. */
  errorCode:
    | 'EXPIRED'
    | 'PAYER_CANCELED'
    | 'PAYER_ABANDONED'
    | 'INSUFFICIENT_FUNDS'
    | 'LIMIT_EXCEEDED'
    | 'NETWORK_LIMIT_EXCEEDED'
    | 'ACCOUNT_BLOCKED'
    | 'ACCOUNT_NOT_FOUND'
    | 'ACCOUNT_CLOSED'
    | 'KEY_NOT_FOUND'
    | 'KEY_SUSPENDED'
    | 'KEY_INVALID'
    | 'RECEIVER_MISMATCH'
    | 'BANK_UNAVAILABLE'
    | 'RAIL_TIMEOUT'
    | 'RAIL_REJECTED'
    | 'SUSPECTED_FRAUD'
    | 'INVALID_DATA'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  resultAt: string | null;
  organizationId: string;
  sourceData: {
    /** The key that is paid to. */
    keyString: string;
    /** The id under which the network knows the payment: what the receiver's bank asks for. Null where the rail assigns it later. */
    endToEndId: string | null;
  };
}

export interface PayoutWithAnomalies {
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayoutStatus;
  rail: 'BRE_B';
  reference: string;
  inlineCustomer: Customer | null;
  /** Why no money was sent. */
  errorCode:
    | 'EXPIRED'
    | 'PAYER_CANCELED'
    | 'PAYER_ABANDONED'
    | 'INSUFFICIENT_FUNDS'
    | 'LIMIT_EXCEEDED'
    | 'NETWORK_LIMIT_EXCEEDED'
    | 'ACCOUNT_BLOCKED'
    | 'ACCOUNT_NOT_FOUND'
    | 'ACCOUNT_CLOSED'
    | 'KEY_NOT_FOUND'
    | 'KEY_SUSPENDED'
    | 'KEY_INVALID'
    | 'RECEIVER_MISMATCH'
    | 'BANK_UNAVAILABLE'
    | 'RAIL_TIMEOUT'
    | 'RAIL_REJECTED'
    | 'SUSPECTED_FRAUD'
    | 'INVALID_DATA'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  resultAt: string | null;
  organizationId: string;
  sourceData: {
    /** The key that is paid to. */
    keyString: string;
    /** The id under which the network knows the payment: what the receiver's bank asks for. Null where the rail assigns it later. */
    endToEndId: string | null;
  };
  anomalies: PayoutAnomaly[];
}

export interface CreatePaymentLink {
  /** The payer is charged exactly `amountInCents`. */
  amountType: 'FIXED';
  /**
   * Amount in cents of a peso.
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** The only currency. */
  currency?: 'COP' | null | undefined;
  /**
   * Your own identifier, unique for ever within your organization.
   * 1 to 255 characters.
   */
  reference: string;
  /**
   * Where the payer goes when the flow has ended, paid or not. The result comes by events, never by this.
   * At most 2,048 characters.
   */
  callbackUrl: string;
  /**
   * Shown to the payer.
   * 1 to 200 characters.
   */
  description?: string | null | undefined;
  /** The only method. Left out: the payer chooses. */
  rail?: Rail | null | undefined;
  /** Who pays. Without it the payer is asked, where the method needs it. */
  inlineCustomer?: Customer | null | undefined;
  /** Only with `rail` `PSE`. */
  pse?:
    | {
        /** Bank code of `GET /pse/banks`, preselected on the page. */
        bank: string;
        /**
         * May be sent; the payer says it on the page.
         * At most 20 characters.
         */
        personType?: string | null | undefined;
      }
    | null
    | undefined;
}

export interface PaymentLink {
  paymentLinkId: string;
  /** The page to send the payer to. Its address is the secret: whoever has it may pay. */
  paymentLinkUrl: string;
  status: PaymentLinkStatus;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** One hour after creation. */
  expiresAt: string | null;
  /** Null: the payer chooses. */
  rail: Rail | null;
  inlineCustomer: Customer | null;
}

export interface PaymentLinkWithDetails {
  paymentLinkId: string;
  /** The page to send the payer to. Its address is the secret: whoever has it may pay. */
  paymentLinkUrl: string;
  status: PaymentLinkStatus;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** One hour after creation. */
  expiresAt: string | null;
  /** Null: the payer chooses. */
  rail: Rail | null;
  inlineCustomer: Customer | null;
  reference: string;
  /** In pesos. */
  amount: number;
  amountInCents: number;
  currency: 'COP';
  description: string | null;
  callbackUrl: string;
  completedAt: string | null;
  /** The payin that completed it. */
  payinId: string | null;
}

export interface Balance {
  currency: 'COP';
  /** `availableInCents` / 100: pesos with at most two decimals. */
  available: number;
  /** What you can pay out. */
  availableInCents: number;
  /** `pendingInCents` / 100. */
  pending: number;
  /** Collected, not settled yet: payins in `PENDING_SETTLEMENT`. */
  pendingInCents: number;
  /** `heldInCents` / 100. */
  held: number;
  /** Set aside for payouts that are on their way. */
  heldInCents: number;
  /** When any of them last changed. UTC, with milliseconds. */
  updatedAt: string;
}

export interface LedgerEntry {
  id: string;
  /** Why it moved: a payin was confirmed, pending money was settled, money was set aside for a payout, sent or given back, a deposit of yours was booked, or an operator put something right. */
  type:
    | 'PAYIN'
    | 'CORRECTION'
    | 'SETTLEMENT'
    | 'DEPOSIT'
    | 'PAYOUT_HOLD'
    | 'PAYOUT_RELEASE'
    | 'PAYOUT'
    | 'REVERSAL';
  /** Where the money came from. `PENDING`, `AVAILABLE` and `HELD` are yours, the others ours. */
  debitAccount: LedgerAccount;
  /** Where it went. */
  creditAccount: LedgerAccount;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  currency: 'COP';
  /** The payin, payout, settlement or correction it belongs to; of a REVERSAL the id of the entry it reverses. */
  resourceId: string | null;
  /** UTC, with milliseconds. */
  createdAt: string;
}

export interface CreateWebhookEndpoint {
  /**
   * Where events are sent: https, to a public address.
   * At most 2,048 characters.
   */
  url: string;
  /** Which events it gets. Null or left out: all. */
  events?: readonly EventName[] | null | undefined;
  /** For your own eyes, 1 to 200 characters. */
  description?: string | null | undefined;
  /** A header that every delivery carries, for instance one that your gateway wants. */
  staticHeader?:
    | {
        /** Name of the header. */
        name: string;
        /** Its value, 1 to 500 printable ASCII characters. It is encrypted at rest. */
        value: string;
      }
    | null
    | undefined;
}

export interface WebhookEndpointWithSecret {
  id: string;
  url: string;
  /** Null: all. */
  events: EventName[] | null;
  description: string | null;
  /** Only its name: the value is not shown again. */
  staticHeader: {
    name: string;
  } | null;
  status: EndpointStatus;
  /** Null while it is enabled. Else `by_owner`, or why the service did it: `gone`, `no_success_5d`. */
  disabledReason: string | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Signs every delivery. Shown only here: keep it. */
  secret: string;
}

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Null: all. */
  events: EventName[] | null;
  description: string | null;
  /** Only its name: the value is not shown again. */
  staticHeader: {
    name: string;
  } | null;
  status: EndpointStatus;
  /** Null while it is enabled. Else `by_owner`, or why the service did it: `gone`, `no_success_5d`. */
  disabledReason: string | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
}

export interface UpdateWebhookEndpoint {
  /**
   * Where events are sent: https, to a public address.
   * At most 2,048 characters.
   */
  url?: string | null | undefined;
  /** Which events it gets. Null: all. */
  events?: readonly EventName[] | null | undefined;
  /** For your own eyes, 1 to 200 characters. */
  description?: string | null | undefined;
  /** A header that every delivery carries, for instance one that your gateway wants. */
  staticHeader?:
    | {
        /** Name of the header. */
        name: string;
        /** Its value, 1 to 500 printable ASCII characters. It is encrypted at rest. */
        value: string;
      }
    | null
    | undefined;
  /** Disabled, its events are held; enabled again, those of the last thirty days are delivered. */
  status?: EndpointStatus | null | undefined;
}

export interface DeletedWebhookEndpoint {
  id: string;
  deleted: true;
}

export interface TestEvent {
  eventId: string;
}

export interface Replayed {
  /** Events that are delivered again. */
  events: number;
  /** Deliveries: an event goes to every enabled endpoint that wants it. */
  deliveries: number;
}

export interface ReplayEvents {
  /** All events created at or after this moment of which a delivery has failed or is failing, each to the endpoints at which it did. */
  failedSince?: string | Date | null | undefined;
  /** With `createdTo`: all events created at or after this moment … */
  createdFrom?: string | Date | null | undefined;
  /** … and before this one. */
  createdTo?: string | Date | null | undefined;
  /** Goes on after this event: `nextAfter` of the answer before, with the same other fields. */
  after?: string | null | undefined;
}

export interface ReplayedMany {
  /** Events that are delivered again. */
  events: number;
  /** Deliveries: an event goes to every enabled endpoint that wants it. */
  deliveries: number;
  /** Set when there are more: repeat the request with this as `after`. */
  nextAfter: string | null;
}

export interface Problem {
  /** Page about this problem. */
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  /** Stable; the only member to branch on. */
  code: ProblemCode;
  /** Quote it when you ask for help. */
  requestId: string;
  /** Each field that is wrong. */
  errors?: FieldError[];
}
