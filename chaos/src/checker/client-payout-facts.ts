import type { LinkLine } from './link-told.ts';
import type { WebhookLine } from './webhook-told.ts';

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

interface ToldPayout {
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

/** What was answered to a cancel. */
export interface Canceled extends CancelSent {
  readonly status: number;
  readonly code: string | null;
  readonly told: string | null;
}

/** Whom a lookup showed, masked. */
interface Shown {
  readonly lookupId: string;
  readonly name: string;
  readonly documentNumber: string;
}

/** What clients know of payouts. */
export interface PayoutsTold {
  /** Each with its place in the journal. */
  readonly sent: readonly (PayoutSent & { readonly place: number })[];
  readonly created: readonly { readonly sent: PayoutSent; readonly payout: ToldPayout }[];
  readonly cancels: readonly Canceled[];
  readonly shown: ReadonlyMap<string, Shown>;
}

export type PayoutLine =
  | ({ readonly kind: 'payout sent' } & PayoutSent)
  | {
      readonly kind: 'payout answered';
      readonly attempt: number;
      readonly status: number;
      readonly payout: ToldPayout | null;
    }
  | ({ readonly kind: 'cancel sent' } & CancelSent)
  | ({ readonly kind: 'cancel answered' } & Pick<Canceled, 'attempt' | 'status' | 'code' | 'told'>)
  | ({ readonly kind: 'shown' } & Shown);

type OtherKind =
  | 'sent'
  | 'answered'
  | 'unanswered'
  | 'operator'
  | 'done'
  | WebhookLine['kind']
  | LinkLine['kind'];

export function payoutsTold(lines: readonly (PayoutLine | { readonly kind: OtherKind })[]): PayoutsTold {
  const sent = new Map<number, PayoutSent & { readonly place: number }>();
  const cancelsSent = new Map<number, CancelSent>();
  const shown = new Map<string, Shown>();
  const created: PayoutsTold['created'][number][] = [];
  const cancels: Canceled[] = [];
  for (const [place, line] of lines.entries()) {
    if (line.kind === 'payout sent') sent.set(line.attempt, { ...line, place });
    else if (line.kind === 'cancel sent') cancelsSent.set(line.attempt, line);
    else if (line.kind === 'shown') shown.set(line.lookupId, line);
    else if (line.kind === 'payout answered' && line.status === 201 && line.payout !== null)
      created.push({ sent: asked(sent, line.attempt), payout: line.payout });
    else if (line.kind === 'cancel answered') cancels.push({ ...asked(cancelsSent, line.attempt), ...line });
  }
  return { sent: [...sent.values()], created, cancels, shown };
}

function asked<T>(sent: ReadonlyMap<number, T>, attempt: number): T {
  const request = sent.get(attempt);
  if (!request) throw new Error(`the client was answered what it never sent (attempt ${attempt})`);
  return request;
}
