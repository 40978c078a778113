import type { LinkLine } from './client-link-facts.ts';

/** An endpoint as its merchant knows it. */
export interface KnownEndpoint {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly sink: string;
  readonly events: readonly string[] | null;
  /** Business time from which events must reach it. */
  readonly knownSince: Date;
  /** All its secrets, newest last. */
  readonly secrets: readonly string[];
  /** A rotation is pending: the new secret may already sign. */
  readonly rotating: boolean;
  /** Real time intervals in which it was certainly disabled. */
  readonly disabled: readonly { readonly from: number; readonly until: number }[];
}

/** What merchants know about their endpoints. */
export interface ClientWebhookFacts {
  readonly bySink: ReadonlyMap<string, KnownEndpoint>;
  /** Replayed events, with the real times of the requests. */
  readonly replayed: ReadonlyMap<string, readonly number[]>;
}

export type WebhookLine =
  | {
      readonly kind: 'endpoint_created';
      readonly organizationId: string;
      readonly endpointId: string;
      readonly sink: string;
      readonly events: readonly string[] | null;
      readonly secret: string;
      readonly knownSince: string;
    }
  | {
      readonly kind: 'endpoint_status_requested' | 'endpoint_status_set';
      readonly at: string;
      readonly endpointId: string;
      readonly status: 'ENABLED' | 'DISABLED';
    }
  | { readonly kind: 'rotation_requested'; readonly endpointId: string }
  | { readonly kind: 'rotated'; readonly endpointId: string; readonly secret: string }
  | { readonly kind: 'replay_requested'; readonly at: string; readonly eventId: string };

export function toWebhookFacts(
  lines: readonly (WebhookLine | { readonly kind: OtherKind })[],
): ClientWebhookFacts {
  const byEndpoint = Map.groupBy(
    lines.filter((line) => 'endpointId' in line),
    ({ endpointId }) => endpointId,
  );
  const endpoints = lines
    .filter((line) => line.kind === 'endpoint_created')
    .map(({ knownSince, secret, ...line }) => {
      const known = byEndpoint.get(line.endpointId) ?? [];
      const rotated = known.filter(({ kind }) => kind === 'rotated');
      return {
        ...line,
        knownSince: new Date(knownSince),
        secrets: [secret, ...rotated.flatMap((each) => ('secret' in each ? [each.secret] : []))],
        rotating: known.filter(({ kind }) => kind === 'rotation_requested').length > rotated.length,
        disabled: disabledSpans(known),
      };
    });
  const replays = Map.groupBy(
    lines.filter((line) => line.kind === 'replay_requested'),
    ({ eventId }) => eventId,
  );
  return {
    bySink: new Map(endpoints.map((endpoint) => [endpoint.sink, endpoint])),
    replayed: new Map(
      [...replays].map(([eventId, requests]) => [eventId, requests.map(({ at }) => Date.parse(at))]),
    ),
  };
}

type OtherKind =
  | 'sent'
  | 'answered'
  | 'unanswered'
  | 'operator'
  | 'done'
  | 'payout_sent'
  | 'payout_answered'
  | 'cancel_sent'
  | 'cancel_answered'
  | 'shown'
  | LinkLine['kind'];

/** Each interval starts at the acknowledged disabling and ends at the request to enable. */
function disabledSpans(known: readonly WebhookLine[]): KnownEndpoint['disabled'] {
  const spans: { from: number; until: number }[] = [];
  for (const line of known) {
    if (line.kind === 'endpoint_status_set' && line.status === 'DISABLED')
      spans.push({ from: Date.parse(line.at), until: Number.POSITIVE_INFINITY });
    const last = spans.at(-1);
    if (line.kind === 'endpoint_status_requested' && line.status === 'ENABLED' && last)
      last.until = Math.min(last.until, Date.parse(line.at));
  }
  return spans;
}
