import type { LinkLine } from './link-told.ts';

/** An endpoint, as its merchant was told. */
export interface ToldEndpoint {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly sink: string;
  readonly events: readonly string[] | null;
  /** In business time: what ended from then on must reach it. */
  readonly knownSince: Date;
  /** Every secret it has been given, newest last. */
  readonly secrets: readonly string[];
  /** A rotation was asked for and not answered yet: what it made may sign already. */
  readonly rotating: boolean;
  /** Real times between which it was surely disabled. */
  readonly disabled: readonly { readonly from: number; readonly until: number }[];
}

/** What merchants know of their endpoints. */
export interface WebhooksTold {
  readonly bySink: ReadonlyMap<string, ToldEndpoint>;
  /** Events of which a replay was asked for, and the real times at which it was. */
  readonly replayed: ReadonlyMap<string, readonly number[]>;
}

export type WebhookLine =
  | {
      readonly kind: 'endpoint created';
      readonly organizationId: string;
      readonly endpointId: string;
      readonly sink: string;
      readonly events: readonly string[] | null;
      readonly secret: string;
      readonly knownSince: string;
    }
  | {
      readonly kind: 'endpoint status asked' | 'endpoint status set';
      readonly at: string;
      readonly endpointId: string;
      readonly status: 'ENABLED' | 'DISABLED';
    }
  | { readonly kind: 'rotation asked'; readonly endpointId: string }
  | { readonly kind: 'rotated'; readonly endpointId: string; readonly secret: string }
  | { readonly kind: 'replay asked'; readonly at: string; readonly eventId: string };

export function webhooksTold(lines: readonly (WebhookLine | { readonly kind: OtherKind })[]): WebhooksTold {
  const about = Map.groupBy(
    lines.filter((line) => 'endpointId' in line),
    ({ endpointId }) => endpointId,
  );
  const endpoints = lines
    .filter((line) => line.kind === 'endpoint created')
    .map(({ knownSince, secret, ...line }) => {
      const said = about.get(line.endpointId) ?? [];
      const rotated = said.filter(({ kind }) => kind === 'rotated');
      return {
        ...line,
        knownSince: new Date(knownSince),
        secrets: [secret, ...rotated.flatMap((each) => ('secret' in each ? [each.secret] : []))],
        rotating: said.filter(({ kind }) => kind === 'rotation asked').length > rotated.length,
        disabled: disabledSpans(said),
      };
    });
  const replays = Map.groupBy(
    lines.filter((line) => line.kind === 'replay asked'),
    ({ eventId }) => eventId,
  );
  return {
    bySink: new Map(endpoints.map((endpoint) => [endpoint.sink, endpoint])),
    replayed: new Map(
      [...replays].map(([eventId, asked]) => [eventId, asked.map(({ at }) => Date.parse(at))]),
    ),
  };
}

type OtherKind =
  | 'sent'
  | 'answered'
  | 'unanswered'
  | 'operator'
  | 'done'
  | 'payout sent'
  | 'payout answered'
  | 'cancel sent'
  | 'cancel answered'
  | 'shown'
  | LinkLine['kind'];

/** From the answer that it is disabled until somebody asks for it to be enabled. */
function disabledSpans(said: readonly WebhookLine[]): ToldEndpoint['disabled'] {
  const spans: { from: number; until: number }[] = [];
  for (const line of said) {
    if (line.kind === 'endpoint status set' && line.status === 'DISABLED')
      spans.push({ from: Date.parse(line.at), until: Number.POSITIVE_INFINITY });
    const last = spans.at(-1);
    if (line.kind === 'endpoint status asked' && line.status === 'ENABLED' && last)
      last.until = Math.min(last.until, Date.parse(line.at));
  }
  return spans;
}
