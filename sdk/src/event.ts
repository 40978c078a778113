import type { CaudalEvent } from './generated/schemas.ts';

/** Snapshot of the payin at its final status. */
export type PayinEventData = Extract<CaudalEvent, { resource: 'payin' }>['data'];
/** Snapshot of the payout at its final status. */
export type PayoutEventData = Extract<CaudalEvent, { resource: 'payout' }>['data'];
/** Snapshot of the payment link at its final status. */
export type PaymentLinkEventData = Extract<CaudalEvent, { resource: 'paymentlink' }>['data'];

/** The event type with a name. */
export type EventNamed<Name extends string> = Extract<CaudalEvent, { event: Name }>;
