import { type ClientLinkFacts, type LinkLine, toLinkFacts } from './client-link-facts.ts';
import { type ClientPayoutFacts, type PayoutLine, toPayoutFacts } from './client-payout-facts.ts';
import { type ClientWebhookFacts, toWebhookFacts, type WebhookLine } from './client-webhook-facts.ts';
import { journalLines } from './journal-lines.ts';

interface Sent {
  readonly attempt: number;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  readonly rail: string;
  readonly bodyHash: string;
}

interface AcknowledgedPayin {
  readonly id: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly rail: string;
  readonly key: string | null;
}

/** A 201 response with its request. */
interface Created {
  readonly sent: Sent;
  readonly payin: AcknowledgedPayin;
}

interface OperatorAct {
  readonly act: 'deposit' | 'reverse' | 'resolve' | 'accept';
  readonly about: string;
  readonly organizationId: string | null;
  readonly amountInCents: number | null;
}

/** What the clients know: their requests, the acknowledgments, and the operators' commands. */
export interface ClientFacts {
  readonly sent: readonly Sent[];
  readonly created: readonly Created[];
  readonly acts: readonly OperatorAct[];
  /** Acknowledged operator commands, with the position of the acknowledgment in the journal. */
  readonly done: ReadonlyMap<string, number>;
  readonly payouts: ClientPayoutFacts;
  readonly webhooks: ClientWebhookFacts;
  readonly links: ClientLinkFacts;
}

type Line =
  | ({ readonly kind: 'sent' } & Sent)
  | {
      readonly kind: 'answered';
      readonly attempt: number;
      readonly status: number;
      readonly payin: AcknowledgedPayin | null;
    }
  | { readonly kind: 'unanswered' }
  | ({ readonly kind: 'operator' } & OperatorAct)
  | { readonly kind: 'done'; readonly about: string }
  | PayoutLine
  | WebhookLine
  | LinkLine;

export function readClientFacts(path: string): ClientFacts {
  const lines = journalLines<Line>(path);
  const sent = new Map(
    lines.flatMap((line) => (line.kind === 'sent' ? [[line.attempt, line] as const] : [])),
  );
  return {
    sent: [...sent.values()],
    created: lines.flatMap((line) => {
      if (line.kind !== 'answered' || line.status !== 201 || line.payin === null) return [];
      const request = sent.get(line.attempt);
      if (!request) throw new Error(`the journal has a response without a request (attempt ${line.attempt})`);
      return [{ sent: request, payin: line.payin }];
    }),
    acts: lines.flatMap((line) => (line.kind === 'operator' ? [line] : [])),
    done: new Map(
      lines.flatMap((line, position) => (line.kind === 'done' ? [[line.about, position] as const] : [])),
    ),
    payouts: toPayoutFacts(lines),
    webhooks: toWebhookFacts(lines),
    links: toLinkFacts(lines),
  };
}
