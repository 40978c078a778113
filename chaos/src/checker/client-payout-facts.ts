import type { LinkLine } from './client-link-facts.ts';
import type { WebhookLine } from './client-webhook-facts.ts';

/** A request to create a payout. */
interface PayoutSent {
  readonly attempt: number;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  readonly key: string;
  readonly lookupId: string | null;
  readonly bodyHash: string;
}

interface AcknowledgedPayout {
  readonly id: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly key: string;
}

interface CancelSent {
  readonly attempt: number;
  readonly organizationId: string;
  readonly payoutId: string;
}

/** The response to a cancel. */
export interface Canceled extends CancelSent {
  readonly status: number;
  readonly code: string | null;
  readonly reportedStatus: string | null;
}

/** The receiver that a lookup returned, masked. */
interface Shown {
  readonly lookupId: string;
  readonly name: string;
  readonly documentNumber: string;
}

/** What clients know about payouts. */
export interface ClientPayoutFacts {
  /** Each with its position in the journal. */
  readonly sent: readonly (PayoutSent & { readonly position: number })[];
  readonly created: readonly { readonly sent: PayoutSent; readonly payout: AcknowledgedPayout }[];
  readonly cancels: readonly Canceled[];
  readonly shown: ReadonlyMap<string, Shown>;
}

export type PayoutLine =
  | ({ readonly kind: 'payout_sent' } & PayoutSent)
  | {
      readonly kind: 'payout_answered';
      readonly attempt: number;
      readonly status: number;
      readonly payout: AcknowledgedPayout | null;
    }
  | ({ readonly kind: 'cancel_sent' } & CancelSent)
  | ({ readonly kind: 'cancel_answered' } & Pick<Canceled, 'attempt' | 'status' | 'code' | 'reportedStatus'>)
  | ({ readonly kind: 'shown' } & Shown);

type OtherKind =
  | 'sent'
  | 'answered'
  | 'unanswered'
  | 'operator'
  | 'done'
  | WebhookLine['kind']
  | LinkLine['kind'];

export function toPayoutFacts(
  lines: readonly (PayoutLine | { readonly kind: OtherKind })[],
): ClientPayoutFacts {
  const sent = new Map<number, PayoutSent & { readonly position: number }>();
  const cancelsSent = new Map<number, CancelSent>();
  const shown = new Map<string, Shown>();
  const created: ClientPayoutFacts['created'][number][] = [];
  const cancels: Canceled[] = [];
  for (const [position, line] of lines.entries()) {
    if (line.kind === 'payout_sent') sent.set(line.attempt, { ...line, position });
    else if (line.kind === 'cancel_sent') cancelsSent.set(line.attempt, line);
    else if (line.kind === 'shown') shown.set(line.lookupId, line);
    else if (line.kind === 'payout_answered' && line.status === 201 && line.payout !== null)
      created.push({ sent: findRequest(sent, line.attempt), payout: line.payout });
    else if (line.kind === 'cancel_answered')
      cancels.push({ ...findRequest(cancelsSent, line.attempt), ...line });
  }
  return { sent: [...sent.values()], created, cancels, shown };
}

function findRequest<T>(sent: ReadonlyMap<number, T>, attempt: number): T {
  const request = sent.get(attempt);
  if (!request) throw new Error(`the journal has a response without a request (attempt ${attempt})`);
  return request;
}
