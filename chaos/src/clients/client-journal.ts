import { closeSync, openSync, writeSync } from 'node:fs';

/** A request to create a payin, as it is about to leave. */
interface SentLine {
  readonly kind: 'sent';
  readonly attempt: number;
  readonly api: string;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  readonly rail: 'BRE_B' | 'PSE';
  readonly bodyHash: string;
}

/** What came back; the payin as the answer shows it, where it shows one. */
export interface AnsweredLine {
  readonly kind: 'answered';
  readonly attempt: number;
  readonly status: number;
  readonly code: string | null;
  readonly payin: {
    readonly id: string;
    readonly reference: string;
    readonly amountInCents: number;
    readonly rail: string;
    readonly key: string | null;
  } | null;
}

/** No answer came: it may have happened or not. */
interface UnansweredLine {
  readonly kind: 'unanswered';
  readonly attempt: number;
  readonly cause: string;
}

/** Something an operator did that leaves rows behind. */
interface OperatorLine {
  readonly kind: 'operator';
  readonly act: 'deposit' | 'reverse' | 'resolve' | 'accept';
  /** The reference of a deposit or of its reversal (with a prefix, so that they differ), or the anomaly's id. */
  readonly about: string;
  readonly organizationId: string | null;
  readonly amountInCents: number | null;
}

/** The operator was told that it is done. */
interface DoneLine {
  readonly kind: 'done';
  readonly about: string;
}

/** A request to create a payout, as it is about to leave. */
interface PayoutSentLine {
  readonly kind: 'payout sent';
  readonly attempt: number;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  /** The receiver's, in its normal form. */
  readonly key: string;
  readonly lookupId: string | null;
  readonly bodyHash: string;
}

export interface PayoutAnsweredLine {
  readonly kind: 'payout answered';
  readonly attempt: number;
  readonly status: number;
  readonly code: string | null;
  readonly payout: {
    readonly id: string;
    readonly reference: string;
    readonly amountInCents: number;
    readonly key: string;
    readonly status: string;
  } | null;
}

interface CancelSentLine {
  readonly kind: 'cancel sent';
  readonly attempt: number;
  readonly organizationId: string;
  readonly payoutId: string;
}

export interface CancelAnsweredLine {
  readonly kind: 'cancel answered';
  readonly attempt: number;
  readonly status: number;
  readonly code: string | null;
  /** Of the payout, where the answer shows one. */
  readonly told: string | null;
}

/** Whom a lookup showed, masked as it came. */
interface ShownLine {
  readonly kind: 'shown';
  readonly organizationId: string;
  readonly lookupId: string;
  readonly key: string;
  readonly name: string;
  readonly documentNumber: string;
}

/** An endpoint with its secret, as the answer told it. */
interface EndpointCreatedLine {
  readonly kind: 'endpoint created';
  readonly organizationId: string;
  readonly endpointId: string;
  readonly sink: string;
  /** Null: all. */
  readonly events: readonly string[] | null;
  readonly secret: string;
  /** Business time at which its merchant surely knew of it. */
  readonly knownSince: string;
}

interface EndpointStatusLine {
  readonly kind: 'endpoint status asked' | 'endpoint status set';
  readonly endpointId: string;
  readonly status: 'ENABLED' | 'DISABLED';
}

interface RotationAskedLine {
  readonly kind: 'rotation asked';
  readonly endpointId: string;
}

interface RotatedLine {
  readonly kind: 'rotated';
  readonly endpointId: string;
  readonly secret: string;
}

/** Before it is asked for: it may have happened without an answer. */
interface ReplayAskedLine {
  readonly kind: 'replay asked';
  readonly eventId: string;
}

/** A request to create a link, before it is first sent. */
interface LinkSentLine {
  readonly kind: 'link sent';
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

interface LinkCreatedLine extends Omit<LinkSentLine, 'kind'> {
  readonly kind: 'link created';
  readonly linkId: string;
}

/** A payer was told that this attempt is theirs. */
interface AttemptBegunLine {
  readonly kind: 'attempt begun';
  readonly linkId: string;
  readonly payinId: string;
}

/** The merchant was told that it is closed. */
interface LinkClosedLine {
  readonly kind: 'link closed';
  readonly linkId: string;
}

type LinkLine = LinkSentLine | LinkCreatedLine | AttemptBegunLine | LinkClosedLine;
type WebhookLine =
  | EndpointCreatedLine
  | EndpointStatusLine
  | RotationAskedLine
  | RotatedLine
  | ReplayAskedLine;
type PayoutLine = PayoutSentLine | PayoutAnsweredLine | CancelSentLine | CancelAnsweredLine | ShownLine;
type ClientLine =
  | SentLine
  | AnsweredLine
  | UnansweredLine
  | OperatorLine
  | DoneLine
  | PayoutLine
  | WebhookLine
  | LinkLine;

/** What the client knows, one JSON line each. Written at once: the checker may read while the load goes on. */
export interface ClientJournal {
  readonly path: string;
  write(line: ClientLine): void;
  close(): void;
}

export function openClientJournal(path: string): ClientJournal {
  const file = openSync(path, 'a');
  return {
    path,
    write: (line) => {
      writeSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
    },
    close: () => closeSync(file),
  };
}
