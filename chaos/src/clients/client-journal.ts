import { closeSync, openSync, writeSync } from 'node:fs';

/** A request to create a payin, written before it is sent. */
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

/** The response, with the payin if it contains one. */
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

/** No response arrived: the request may or may not have taken effect. */
interface UnansweredLine {
  readonly kind: 'unanswered';
  readonly attempt: number;
  readonly cause: string;
}

/** An operator's command that writes rows. */
interface OperatorLine {
  readonly kind: 'operator';
  readonly act: 'deposit' | 'reverse' | 'resolve' | 'accept';
  /** The reference of a deposit or of its reversal (prefixed, so that they differ), or the anomaly's id. */
  readonly about: string;
  readonly organizationId: string | null;
  readonly amountInCents: number | null;
}

/** The command was acknowledged. */
interface DoneLine {
  readonly kind: 'done';
  readonly about: string;
}

/** A request to create a payout, written before it is sent. */
interface PayoutSentLine {
  readonly kind: 'payout_sent';
  readonly attempt: number;
  readonly organizationId: string;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  /** The receiver's Bre-B key, normalized. */
  readonly key: string;
  readonly lookupId: string | null;
  readonly bodyHash: string;
}

export interface PayoutAnsweredLine {
  readonly kind: 'payout_answered';
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
  readonly kind: 'cancel_sent';
  readonly attempt: number;
  readonly organizationId: string;
  readonly payoutId: string;
}

export interface CancelAnsweredLine {
  readonly kind: 'cancel_answered';
  readonly attempt: number;
  readonly status: number;
  readonly code: string | null;
  /** The payout's status, if the response contains one. */
  readonly reportedStatus: string | null;
}

/** The receiver that a lookup returned, masked as received. */
interface ShownLine {
  readonly kind: 'shown';
  readonly organizationId: string;
  readonly lookupId: string;
  readonly key: string;
  readonly name: string;
  readonly documentNumber: string;
}

/** An endpoint with its secret, as returned by the API. */
interface EndpointCreatedLine {
  readonly kind: 'endpoint_created';
  readonly organizationId: string;
  readonly endpointId: string;
  readonly sink: string;
  /** Null means all events. */
  readonly events: readonly string[] | null;
  readonly secret: string;
  /** Business time from which the merchant knows the endpoint. */
  readonly knownSince: string;
}

interface EndpointStatusLine {
  readonly kind: 'endpoint_status_requested' | 'endpoint_status_set';
  readonly endpointId: string;
  readonly status: 'ENABLED' | 'DISABLED';
}

interface RotationRequestedLine {
  readonly kind: 'rotation_requested';
  readonly endpointId: string;
}

interface RotatedLine {
  readonly kind: 'rotated';
  readonly endpointId: string;
  readonly secret: string;
}

/** Written before the request is sent: the replay may take effect without a response. */
interface ReplayRequestedLine {
  readonly kind: 'replay_requested';
  readonly eventId: string;
}

/** A request to create a link, written before it is first sent. */
interface LinkSentLine {
  readonly kind: 'link_sent';
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

interface LinkCreatedLine extends Omit<LinkSentLine, 'kind'> {
  readonly kind: 'link_created';
  readonly linkId: string;
}

/** The API acknowledged to the payer that this attempt started. */
interface AttemptStartedLine {
  readonly kind: 'attempt_started';
  readonly linkId: string;
  readonly payinId: string;
}

/** The API acknowledged to the merchant that the link is closed. */
interface LinkClosedLine {
  readonly kind: 'link_closed';
  readonly linkId: string;
}

/** A screen that a browser received. */
interface ScreenLine {
  readonly kind: 'screen';
  readonly linkId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number;
  /** The text of the main part, one line per element. */
  readonly text: string;
  /** The Bre-B key that it shows. */
  readonly key: string | null;
  /** Payments of the link that the ledger had posted before the request and after the response. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

type LinkLine = ScreenLine | LinkSentLine | LinkCreatedLine | AttemptStartedLine | LinkClosedLine;
type WebhookLine =
  | EndpointCreatedLine
  | EndpointStatusLine
  | RotationRequestedLine
  | RotatedLine
  | ReplayRequestedLine;
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

/** What the clients know, as JSON lines. Writes are synchronous: the checker may read while the load runs. */
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
