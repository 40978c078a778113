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
  | 'paymentlink.expired'
  | 'api_key.used_from_new_network';

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
  | 'address_not_allowed'
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
  /** Value for `pse.bank`. */
  code: string;
  name: string;
  /** Whether PSE offers the bank today. A payin for an unavailable bank is accepted but will likely be declined. */
  available: boolean;
}

export type LedgerAccount = 'PENDING' | 'AVAILABLE' | 'HELD' | 'RAIL' | 'FEES' | 'SUSPENSE' | 'TREASURY';

export interface PayoutAnomaly {
  id: string;
  /** `SENT_LATE`: money was sent after the payout was declined or canceled. `SENT_AGAIN`: money was sent a second time. `CONTRADICTION`: the rail contradicts an earlier report. `UNCONFIRMED`: a settlement was notified that the rail cannot confirm. */
  kind: 'SENT_LATE' | 'SENT_AGAIN' | 'CONTRADICTION' | 'UNCONFIRMED';
  /** Negative: money that was sent. Null if none was. */
  amount: number | null;
  amountInCents: number | null;
  /** `OPEN`: the operator has not decided yet. `RESOLVED`: see `resolution`. */
  status: 'OPEN' | 'RESOLVED';
  /** UTC, with milliseconds. */
  noticedAt: string;
  resolvedAt: string | null;
  /** `CHARGE`: the money was debited from your available balance. `WRITE_OFF`: the operator bears the loss. `DISMISS`: closed without moving money. */
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

export interface DeliveryAttempt {
  /** UTC, with milliseconds. */
  at: string;
  /** HTTP status of your response; null if there was none. */
  statusCode: number | null;
  durationMs: number;
  /** Why there was no response; null if there was one, whatever its status. The webhooks guide explains each value. */
  error: DeliveryError | null;
  /** The first bytes of your response, at most 512. */
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
   * Amount in cents (1 peso = 100 cents).
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  rail: 'BRE_B';
  /**
   * Your own identifier. It must be unique within your organization and cannot be reused.
   * 1 to 255 characters.
   */
  reference: string;
  /** The payer. If omitted on PSE, the checkout page asks the payer for these details. */
  inlineCustomer?: Customer | null | undefined;
  /** Required when `rail` is `BRE_B`. */
  breb: {
    /** `SINGLE_USE` returns the key; `QR_CODE` also returns a QR image. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /**
     * Accepted but ignored for payins.
     * At most 100 characters.
     */
    keyString?: string | null | undefined;
  };
  /**
   * URL the payer returns to. It does not report the result: use events.
   * At most 2,048 characters.
   */
  callbackUrl?: string | null | undefined;
  metadata?: Metadata | null | undefined;
  pse?: null | undefined;
}

export interface CreatePsePayin {
  /**
   * Amount in cents (1 peso = 100 cents).
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  rail: 'PSE';
  /**
   * Your own identifier. It must be unique within your organization and cannot be reused.
   * 1 to 255 characters.
   */
  reference: string;
  /** The payer. If omitted on PSE, the checkout page asks the payer for these details. */
  inlineCustomer?: Customer | null | undefined;
  /** Required when `rail` is `PSE`. */
  pse: {
    /** Bank code from `GET /pse/banks`. */
    bank: string;
    personType: 'INDIVIDUAL' | 'BUSINESS';
  };
  /**
   * URL the payer returns to. It does not report the result: use events.
   * At most 2,048 characters.
   */
  callbackUrl?: string | null | undefined;
  metadata?: Metadata | null | undefined;
  breb?: null | undefined;
}

export interface Customer {
  /**
   * Full name.
   * 1 to 120 characters.
   */
  name: string;
  /** Type of identification document. */
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

/** Your own key-value pairs: up to 20, keys of up to 40 and values of up to 500 characters. They are stored encrypted, and returned in responses and events. Lists cannot be filtered by them. */
export type Metadata = Record<string, string>;

export type Payin = BrebPayin | PsePayin;

export interface BrebPayin {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayin {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export type PayinListItem = BrebPayinListItem | PsePayinListItem;

export interface BrebPayinListItem {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  /** The customer object as a JSON string. */
  inlineCustomer: string | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinListItem {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  /** The customer object as a JSON string. */
  inlineCustomer: string | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export type PayinWithAnomalies = BrebPayinWithAnomalies | PsePayinWithAnomalies;

export interface BrebPayinWithAnomalies {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  anomalies: PayinAnomaly[];
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** `data:image/png;base64,…`, ready to render; only with `QR_CODE`. */
    qrString?: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinWithAnomalies {
  /** Identifier of the payin. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayinStatus;
  /** `REVERSED`: the rail notified the payment but does not list it, so the ledger entry was reversed and the payin never settles. */
  settlementStatus: SettlementStatus | null;
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Your own identifier of the payin. */
  reference: string;
  /** The payment link it came from. */
  paymentLinkId: string | null;
  inlineCustomer: Customer | null;
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** After this time the payin can no longer be paid. */
  expiresAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  chargebackAt: string | null;
  /** Your organization. */
  organizationId: string;
  callbackUrl: string | null;
  metadata: Metadata;
  anomalies: PayinAnomaly[];
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export interface PayinAnomaly {
  id: string;
  /** `PAID_LATE`: money arrived after the payin was declined or canceled. `PAID_AGAIN`: a second payment arrived. `UNDERPAID`: less than the amount arrived. `OVERPAID`: the excess over the amount. `CONTRADICTION`: the rail reported a failure for a paid payin. `UNCONFIRMED`: a payment was notified that the rail cannot confirm. `PAYMENT_NOT_LISTED`: the rail notified the payment that confirmed the payin, but its status does not list it; settlement is held until an operator decides. */
  kind:
    | 'PAID_LATE'
    | 'PAID_AGAIN'
    | 'UNDERPAID'
    | 'OVERPAID'
    | 'CONTRADICTION'
    | 'UNCONFIRMED'
    | 'PAYMENT_NOT_LISTED';
  /** Money held separately; null if no money arrived. */
  amount: number | null;
  amountInCents: number | null;
  /** `OPEN`: not decided yet; the money can be accepted. `ACCEPTED`: you accepted the money, and it will be credited shortly. `RESOLVED`: see `resolution`. */
  status: 'OPEN' | 'ACCEPTED' | 'RESOLVED';
  /** UTC, with milliseconds. */
  noticedAt: string;
  resolvedAt: string | null;
  /** `CREDIT`: the money was credited to your available balance. `RETURN`: the money is sent back to the payer; if that fails, the anomaly is `OPEN` again. `DISMISS`: closed without moving money. `RELEASE`: the payin settles. `REVERSE`: the ledger entry of the payin was reversed. `LISTED`: the rail now lists the payment, and the payin settles. */
  resolution: 'CREDIT' | 'RETURN' | 'DISMISS' | 'RELEASE' | 'REVERSE' | 'LISTED' | null;
}

export interface CreateBrebKeyLookup {
  /**
   * The key.
   * 1 to 200 characters.
   */
  keyString: string;
  /**
   * Expected name of the holder.
   * 1 to 120 characters.
   */
  name?: string | null | undefined;
  /**
   * Expected document number of the holder.
   * 1 to 40 characters.
   */
  documentNumber?: string | null | undefined;
}

export interface BrebKeyLookup {
  details: {
    /** The normalized key. */
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
  /** After this time, payouts can no longer use the lookup. */
  expiresAt: string;
  /** Only present if `name` or `documentNumber` was sent. */
  match?: {
    name?: 'FULL' | 'PARTIAL' | 'NONE';
    documentNumber?: boolean;
  };
}

export interface CreatePayout {
  /**
   * Amount in cents (1 peso = 100 cents).
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  /** The only rail that supports payouts. */
  rail: 'BRE_B';
  /**
   * Your own identifier. It must be unique within your organization and cannot be reused.
   * 1 to 255 characters.
   */
  reference: string;
  /** The receiver. */
  inlineCustomer: Customer;
  breb: {
    /**
     * The Bre-B key to pay to, the same one that you looked up. Responses show it normalized.
     * At most 200 characters.
     */
    keyString: string;
    /** The lookup that this payout must match. If omitted, the newest unexpired lookup of the same key is used, if any. */
    lookupId?: string | null | undefined;
    /** Accepted but ignored for payouts. */
    keyType?: 'SINGLE_USE' | 'QR_CODE' | null | undefined;
  };
  metadata?: Metadata | null | undefined;
}

export interface Payout {
  /** Identifier of the payout. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The amount in cents. */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayoutStatus;
  /** The rail that the money is sent on. */
  rail: 'BRE_B';
  /** Your own identifier of the payout. */
  reference: string;
  inlineCustomer: Customer | null;
  /** Why the payout failed. */
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
    | 'ORGANIZATION_LIMIT_EXCEEDED'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  /** Your organization. */
  organizationId: string;
  sourceData: {
    /** The Bre-B key of the receiver. */
    keyString: string;
    /** The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it. */
    endToEndId: string | null;
  };
  metadata: Metadata;
}

export interface SearchPayouts {
  /**
   * `nextCursor` or `previousCursor` from a previous page of the same list.
   * At most 200 characters.
   */
  cursor?: string | null | undefined;
  /**
   * Payouts per page, 1 to 100.
   * 1 to 100.
   */
  pageSize?: number | null | undefined;
  /** Only payouts with this status. */
  status?: PayoutStatus | null | undefined;
  /** Only payouts on this rail. */
  rail?: 'BRE_B' | null | undefined;
  /**
   * Only the payout with this reference.
   * 1 to 255 characters.
   */
  reference?: string | null | undefined;
  /**
   * Only payouts to this key.
   * At most 200 characters.
   */
  keyString?: string | null | undefined;
  /** Created at or after this time. */
  createdFrom?: string | Date | null | undefined;
  /** Created before this time. */
  createdTo?: string | Date | null | undefined;
}

export interface PayoutWithAnomalies {
  /** Identifier of the payout. */
  id: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The amount in cents. */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  /** `CONFIRMED`, `DECLINED` and `CANCELED` are final. */
  status: PayoutStatus;
  /** The rail that the money is sent on. */
  rail: 'BRE_B';
  /** Your own identifier of the payout. */
  reference: string;
  inlineCustomer: Customer | null;
  /** Why the payout failed. */
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
    | 'ORGANIZATION_LIMIT_EXCEEDED'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status; null until then. */
  resultAt: string | null;
  /** Your organization. */
  organizationId: string;
  sourceData: {
    /** The Bre-B key of the receiver. */
    keyString: string;
    /** The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it. */
    endToEndId: string | null;
  };
  metadata: Metadata;
  anomalies: PayoutAnomaly[];
}

export interface CreatePaymentLink {
  /** The payer is charged exactly `amountInCents`. */
  amountType: 'FIXED';
  /**
   * Amount in cents (1 peso = 100 cents).
   * 1 to 999,999,999,999.
   */
  amountInCents: number;
  /** Always `COP`. */
  currency?: 'COP' | null | undefined;
  /**
   * Your own identifier. It must be unique within your organization and cannot be reused.
   * 1 to 255 characters.
   */
  reference: string;
  /**
   * URL the payer returns to after the checkout, paid or not. It does not report the result: use events.
   * At most 2,048 characters.
   */
  callbackUrl: string;
  /**
   * Shown to the payer.
   * 1 to 200 characters.
   */
  description?: string | null | undefined;
  /** The only payment method. If omitted, the payer chooses. */
  rail?: Rail | null | undefined;
  /** The payer. If omitted, the page asks for these details when the method needs them. */
  inlineCustomer?: Customer | null | undefined;
  /** Only allowed if `rail` is `PSE`. */
  pse?:
    | {
        /** Bank code from `GET /pse/banks`, preselected on the page. */
        bank: string;
        /**
         * Accepted but ignored: the payer selects it on the page.
         * At most 20 characters.
         */
        personType?: string | null | undefined;
      }
    | null
    | undefined;
  metadata?: Metadata | null | undefined;
}

export interface PaymentLink {
  /** Identifier of the payment link. */
  paymentLinkId: string;
  /** The page to send the payer to. The URL is secret: anyone who has it can pay. */
  paymentLinkUrl: string;
  status: PaymentLinkStatus;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** One hour after creation. */
  expiresAt: string | null;
  /** The only payment method; null if the payer chooses. */
  rail: Rail | null;
  inlineCustomer: Customer | null;
  metadata: Metadata;
}

export interface PaymentLinkWithDetails {
  /** Identifier of the payment link. */
  paymentLinkId: string;
  /** The page to send the payer to. The URL is secret: anyone who has it can pay. */
  paymentLinkUrl: string;
  status: PaymentLinkStatus;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** One hour after creation. */
  expiresAt: string | null;
  /** The only payment method; null if the payer chooses. */
  rail: Rail | null;
  inlineCustomer: Customer | null;
  metadata: Metadata;
  /** Your own identifier of the payment link. */
  reference: string;
  /** In pesos. */
  amount: number;
  amountInCents: number;
  /** Received by its payins so far, up to `amount`, in pesos. The link is completed when it equals `amount`. */
  paidAmount: number;
  paidAmountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  description: string | null;
  callbackUrl: string;
  /** When the link was paid; null if it was not. */
  completedAt: string | null;
  /** The payin that completed the link. */
  payinId: string | null;
  /** Four digits that the page shows to a payer who doubts the charge. Read them to a payer who calls you. */
  verificationCode: string;
}

export interface Balance {
  currency: 'COP';
  /** `availableInCents` / 100: pesos with at most two decimals. */
  available: number;
  /** Available for payouts. */
  availableInCents: number;
  /** `pendingInCents` / 100. */
  pending: number;
  /** Collected but not settled yet: payins in `PENDING_SETTLEMENT`. */
  pendingInCents: number;
  /** `heldInCents` / 100. */
  held: number;
  /** Held for payouts in progress. */
  heldInCents: number;
  /** When the balance last changed. UTC, with milliseconds. */
  updatedAt: string;
}

export interface LedgerEntry {
  id: string;
  /** Reason for the entry: a payin was confirmed, pending money was settled, money was held for a payout, sent or released, a deposit was credited, or an operator made a correction. */
  type:
    | 'PAYIN'
    | 'CORRECTION'
    | 'SETTLEMENT'
    | 'DEPOSIT'
    | 'PAYOUT_HOLD'
    | 'PAYOUT_RELEASE'
    | 'PAYOUT'
    | 'REVERSAL';
  /** Account the money came from. `PENDING`, `AVAILABLE` and `HELD` are your accounts; the others are accounts of the service. */
  debitAccount: LedgerAccount;
  /** Account the money went to. */
  creditAccount: LedgerAccount;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  amountInCents: number;
  currency: 'COP';
  /** The payin, payout, settlement or correction it belongs to. For a `REVERSAL`, the id of the reversed entry. */
  resourceId: string | null;
  /** UTC, with milliseconds. */
  createdAt: string;
}

export interface CreateWebhookEndpoint {
  /**
   * URL that receives the events: https, public internet.
   * At most 2,048 characters.
   */
  url: string;
  /** Events to deliver. Null or omitted: all events. */
  events?: readonly EventName[] | null | undefined;
  /** For your own use, 1 to 200 characters. */
  description?: string | null | undefined;
  /** A header added to every delivery, for example one that your gateway requires. */
  staticHeader?:
    | {
        /** Name of the header. */
        name: string;
        /** Value of the header, 1 to 500 printable ASCII characters. Encrypted at rest. */
        value: string;
      }
    | null
    | undefined;
}

export interface WebhookEndpointWithSecret {
  id: string;
  url: string;
  /** Null: all events. */
  events: EventName[] | null;
  description: string | null;
  /** Only the name: the value is never shown. */
  staticHeader: {
    name: string;
  } | null;
  status: EndpointStatus;
  /** Null while enabled. `by_owner`: you disabled it. `gone`: it responded 410. `no_success_5d`: no delivery succeeded for five days. */
  disabledReason: 'by_owner' | 'gone' | 'no_success_5d' | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Signs every delivery. Shown only once: store it. */
  secret: string;
}

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Null: all events. */
  events: EventName[] | null;
  description: string | null;
  /** Only the name: the value is never shown. */
  staticHeader: {
    name: string;
  } | null;
  status: EndpointStatus;
  /** Null while enabled. `by_owner`: you disabled it. `gone`: it responded 410. `no_success_5d`: no delivery succeeded for five days. */
  disabledReason: 'by_owner' | 'gone' | 'no_success_5d' | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
}

export interface UpdateWebhookEndpoint {
  /**
   * URL that receives the events: https, public internet.
   * At most 2,048 characters.
   */
  url?: string | null | undefined;
  /** Events to deliver. Null: all events. */
  events?: readonly EventName[] | null | undefined;
  /** For your own use, 1 to 200 characters. */
  description?: string | null | undefined;
  /** A header added to every delivery, for example one that your gateway requires. */
  staticHeader?:
    | {
        /** Name of the header. */
        name: string;
        /** Value of the header, 1 to 500 printable ASCII characters. Encrypted at rest. */
        value: string;
      }
    | null
    | undefined;
  /** While disabled, events are held. When enabled again, the held events of the last thirty days are delivered. */
  status?: EndpointStatus | null | undefined;
}

export interface DeletedWebhookEndpoint {
  id: string;
  deleted: true;
}

export interface TestEvent {
  eventId: string;
}

/** One of the events. New ones may be added: ignore events whose name you do not know. */
export type CaudalEvent =
  | PayinConfirmedEvent
  | PayinCanceledEvent
  | PayinDeclinedEvent
  | PayoutConfirmedEvent
  | PayoutCanceledEvent
  | PayoutDeclinedEvent
  | PaymentLinkCompletedEvent
  | PaymentLinkExpiredEvent
  | ApiKeyUsedFromNewNetworkEvent
  | WebhookTestEvent;

export interface PayinConfirmedEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payin.confirmed';
  /** Type of the resource in `data`. */
  resource: 'payin';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayinConfirmedData;
}

export type PayinConfirmedData = BrebPayinConfirmedData | PsePayinConfirmedData;

export interface BrebPayinConfirmedData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The amount paid: compare it with your order. Equal to `amount`, unless your organization accepts any amount. */
  confirmedAmount: number;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CONFIRMED';
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Always null, because nothing failed. */
  errorCode: null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinConfirmedData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The amount paid: compare it with your order. Equal to `amount`, unless your organization accepts any amount. */
  confirmedAmount: number;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CONFIRMED';
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Always null, because nothing failed. */
  errorCode: null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export interface PayinCanceledEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payin.canceled';
  /** Type of the resource in `data`. */
  resource: 'payin';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayinCanceledData;
}

export type PayinCanceledData = BrebPayinCanceledData | PsePayinCanceledData;

export interface BrebPayinCanceledData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CANCELED';
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinCanceledData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CANCELED';
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export interface PayinDeclinedEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payin.declined';
  /** Type of the resource in `data`. */
  resource: 'payin';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayinDeclinedData;
}

export type PayinDeclinedData = BrebPayinDeclinedData | PsePayinDeclinedData;

export interface BrebPayinDeclinedData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  status: 'DECLINED';
  /** The rail that the payer pays on. */
  rail: 'BRE_B';
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** How the payer pays: by entering the key, or by scanning its QR code. */
    keyType: 'SINGLE_USE' | 'QR_CODE';
    /** The Bre-B key the payer pays to. */
    keyString: string;
    /** Page where the payer can pay this payin. */
    checkoutUrl: string;
    /** The network's id of the payment, also known to the payer's bank; null until paid. */
    endToEndId: string | null;
  };
}

export interface PsePayinDeclinedData {
  /** Identifier of the payin. */
  id: string;
  /** Your own identifier of the payin. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The requested amount in cents. */
  amountInCents: number;
  /** The confirmed amount: equal to `amount`, unless your organization accepts any amount. With `UNDERPAID`, the amount received. */
  confirmedAmount: number | null;
  /** `confirmedAmount` in cents. */
  confirmedAmountInCents: number | null;
  /** Always `COP`. */
  currency: 'COP';
  status: 'DECLINED';
  /** The rail that the payer pays on. */
  rail: 'PSE';
  /** Why the payin was not confirmed. `UNDERPAID`: less than `amount` was received, and the money is held separately. */
  errorCode: ErrorCode | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
  /** Rail-specific data. */
  sourceData: {
    /** Bank page where the payer pays; null until the bank responds. */
    pseUrl: string | null;
    /** Code of the bank that the payer pays from. */
    bank: string;
    /** The PSE transaction code (CUS), used by payers and banks in claims; null until the bank responds. */
    cus: string | null;
  };
}

export interface PayoutConfirmedEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payout.confirmed';
  /** Type of the resource in `data`. */
  resource: 'payout';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayoutConfirmedData;
}

export interface PayoutConfirmedData {
  /** Identifier of the payout. */
  id: string;
  /** Your own identifier of the payout. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The amount in cents. */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CONFIRMED';
  /** The rail that the money is sent on. */
  rail: 'BRE_B';
  sourceData: {
    /** The Bre-B key of the receiver. */
    keyString: string;
    /** The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it. */
    endToEndId: string | null;
  };
  /** Always null, because nothing failed. */
  errorCode: null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
}

export interface PayoutCanceledEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payout.canceled';
  /** Type of the resource in `data`. */
  resource: 'payout';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayoutCanceledData;
}

export interface PayoutCanceledData {
  /** Identifier of the payout. */
  id: string;
  /** Your own identifier of the payout. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The amount in cents. */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'CANCELED';
  /** The rail that the money is sent on. */
  rail: 'BRE_B';
  sourceData: {
    /** The Bre-B key of the receiver. */
    keyString: string;
    /** The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it. */
    endToEndId: string | null;
  };
  /** Why the payout failed. */
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
    | 'ORGANIZATION_LIMIT_EXCEEDED'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
}

export interface PayoutDeclinedEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'payout.declined';
  /** Type of the resource in `data`. */
  resource: 'payout';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PayoutDeclinedData;
}

export interface PayoutDeclinedData {
  /** Identifier of the payout. */
  id: string;
  /** Your own identifier of the payout. */
  reference: string;
  /** `amountInCents` / 100: pesos with at most two decimals. */
  amount: number;
  /** The amount in cents. */
  amountInCents: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'DECLINED';
  /** The rail that the money is sent on. */
  rail: 'BRE_B';
  sourceData: {
    /** The Bre-B key of the receiver. */
    keyString: string;
    /** The network's id of the payment, also known to the receiver's bank. Null until the rail assigns it. */
    endToEndId: string | null;
  };
  /** Why the payout failed. */
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
    | 'ORGANIZATION_LIMIT_EXCEEDED'
    | null;
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Time of the final status. */
  resultAt: string;
  /** Your organization. */
  organizationId: string;
  metadata: Metadata;
}

export interface PaymentLinkCompletedEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'paymentlink.completed';
  /** Type of the resource in `data`. */
  resource: 'paymentlink';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PaymentLinkCompletedData;
}

export interface PaymentLinkCompletedData {
  /** Identifier of the payment link. */
  paymentLinkId: string;
  /** Your own identifier of the payment link. */
  reference: string;
  /** In pesos. */
  amount: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'COMPLETED';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** Always null, because a paid link no longer expires. */
  expiresAt: null;
  /** When the link was paid. */
  completedAt: string;
  metadata: Metadata;
}

export interface PaymentLinkExpiredEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'paymentlink.expired';
  /** Type of the resource in `data`. */
  resource: 'paymentlink';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: PaymentLinkExpiredData;
}

export interface PaymentLinkExpiredData {
  /** Identifier of the payment link. */
  paymentLinkId: string;
  /** Your own identifier of the payment link. */
  reference: string;
  /** In pesos. */
  amount: number;
  /** Always `COP`. */
  currency: 'COP';
  status: 'EXPIRED';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** UTC, with milliseconds. */
  updatedAt: string;
  /** One hour after creation. */
  expiresAt: string;
  /** Always null, because the link was not paid. */
  completedAt: null;
  metadata: Metadata;
}

export interface ApiKeyUsedFromNewNetworkEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'api_key.used_from_new_network';
  /** Type of the resource in `data`. */
  resource: 'api_key';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: ApiKeyUsedFromNewNetworkData;
}

export interface ApiKeyUsedFromNewNetworkData {
  /** The public id of the API key: the part after `cdl_live_` or `cdl_test_`. */
  apiKeyId: string;
  /** The name of the API key. */
  name: string;
  /** The network of the client: /24 for IPv4, /48 for IPv6. */
  network: string;
  /** False if the address allow-list of the API key rejected the request (403 `address_not_allowed`). */
  allowed: boolean;
  /** When the network was first seen. */
  seenAt: string;
  organizationId: string;
}

export interface WebhookTestEvent {
  /** Also sent as `webhook-id` with every delivery. An event may be delivered more than once. */
  id: string;
  /** Name of the event. */
  event: 'webhook.test';
  /** Type of the resource in `data`. */
  resource: 'webhook';
  /** UTC, with milliseconds. */
  createdAt: string;
  /** The resource at the time of the event; its fields depend on `event`. */
  data: WebhookTestData;
}

export interface WebhookTestData {
  /** The endpoint that receives the test. */
  webhookEndpointId: string;
  reference?: undefined;
  status?: undefined;
}

export type CaudalEventWithDeliveries = CaudalEvent & {
  deliveries: DeliveryWithEndpoint[];
};

export interface DeliveryWithEndpoint {
  id: string;
  eventId: string;
  event: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: DeliveryAttempt[];
  nextAttemptAt: string | null;
  webhookEndpointId: string;
}

export interface Replayed {
  /** Number of events delivered again. */
  events: number;
  /** Number of deliveries: an event goes to every enabled endpoint that subscribes to it. */
  deliveries: number;
}

export interface ReplayEvents {
  /** All events created at or after this time with a failed or failing delivery. Each is delivered only to the endpoints where it failed. */
  failedSince?: string | Date | null | undefined;
  /** All events created at or after this time. Requires `createdTo`. */
  createdFrom?: string | Date | null | undefined;
  /** All events created before this time. Requires `createdFrom`. */
  createdTo?: string | Date | null | undefined;
  /** Continue after this event: `nextAfter` of the previous response. Send the same other fields. */
  after?: string | null | undefined;
}

export interface ReplayedMany {
  /** Number of events delivered again. */
  events: number;
  /** Number of deliveries: an event goes to every enabled endpoint that subscribes to it. */
  deliveries: number;
  /** Set if there are more events: repeat the request with this value as `after`. */
  nextAfter: string | null;
}

export interface Problem {
  /** URL of the documentation of this error. */
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  /** Stable error code. Branch on this member only. */
  code: ProblemCode;
  /** Identifier of the request. Include it when you contact support. */
  requestId: string;
  /** The invalid fields; at most 20 of them. */
  errors?: FieldError[];
}
