import { journalLines } from './journal-lines.ts';
import { type LinkLine, type LinksTold, linksTold } from './link-told.ts';
import { type PayoutLine, type PayoutsTold, payoutsTold } from './payout-told.ts';
import { type WebhookLine, type WebhooksTold, webhooksTold } from './webhook-told.ts';

interface Sent {
  readonly attempt: number;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  readonly rail: string;
  readonly bodyHash: string;
}

interface ToldPayin {
  readonly id: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly rail: string;
  readonly key: string | null;
}

/** A 201, with the request it answers. */
interface Created {
  readonly sent: Sent;
  readonly payin: ToldPayin;
}

interface OperatorAct {
  readonly act: 'deposit' | 'reverse' | 'resolve' | 'accept';
  readonly about: string;
  readonly organizationId: string | null;
  readonly amountInCents: number | null;
}

/** What the client knows: everything it sent, everything it was promised, and what operators did. */
export interface Told {
  readonly sent: readonly Sent[];
  readonly created: readonly Created[];
  readonly acts: readonly OperatorAct[];
  /** What operators were told is done, with the place in the journal of their being told. */
  readonly done: ReadonlyMap<string, number>;
  readonly payouts: PayoutsTold;
  readonly webhooks: WebhooksTold;
  readonly links: LinksTold;
}

type Line =
  | ({ readonly kind: 'sent' } & Sent)
  | {
      readonly kind: 'answered';
      readonly attempt: number;
      readonly status: number;
      readonly payin: ToldPayin | null;
    }
  | { readonly kind: 'unanswered' }
  | ({ readonly kind: 'operator' } & OperatorAct)
  | { readonly kind: 'done'; readonly about: string }
  | PayoutLine
  | WebhookLine
  | LinkLine;

export function readTold(path: string): Told {
  const lines = journalLines<Line>(path);
  const sent = new Map(
    lines.flatMap((line) => (line.kind === 'sent' ? [[line.attempt, line] as const] : [])),
  );
  return {
    sent: [...sent.values()],
    created: lines.flatMap((line) => {
      if (line.kind !== 'answered' || line.status !== 201 || line.payin === null) return [];
      const request = sent.get(line.attempt);
      if (!request) throw new Error(`the client was answered what it never sent (attempt ${line.attempt})`);
      return [{ sent: request, payin: line.payin }];
    }),
    acts: lines.flatMap((line) => (line.kind === 'operator' ? [line] : [])),
    done: new Map(
      lines.flatMap((line, place) => (line.kind === 'done' ? [[line.about, place] as const] : [])),
    ),
    payouts: payoutsTold(lines),
    webhooks: webhooksTold(lines),
    links: linksTold(lines),
  };
}
