interface SentLink {
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

/** A screen that a browser received, and the payments of the link that were posted before and after. */
export interface Screen {
  readonly linkId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number;
  readonly text: string;
  /** The Bre-B key that it shows. */
  readonly key: string | null;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What merchants and payers know about links. */
export interface ClientLinkFacts {
  readonly sent: readonly SentLink[];
  readonly created: readonly (SentLink & { readonly linkId: string })[];
  /** Attempts that the API acknowledged to payers. */
  readonly started: readonly { readonly linkId: string; readonly payinId: string }[];
  /** Links whose closing the API acknowledged. */
  readonly closed: readonly string[];
  readonly screens: readonly Screen[];
}

export type LinkLine =
  | ({ readonly kind: 'link_sent' } & SentLink)
  | ({ readonly kind: 'link_created'; readonly linkId: string } & SentLink)
  | { readonly kind: 'attempt_started'; readonly linkId: string; readonly payinId: string }
  | { readonly kind: 'link_closed'; readonly linkId: string }
  | ({ readonly kind: 'screen' } & Screen);

export function toLinkFacts(lines: readonly { readonly kind: string }[]): ClientLinkFacts {
  const ofKind = <Kind extends LinkLine['kind']>(kind: Kind) =>
    lines.filter((line): line is Extract<LinkLine, { kind: Kind }> => line.kind === kind);
  return {
    sent: ofKind('link_sent'),
    created: ofKind('link_created'),
    started: ofKind('attempt_started'),
    closed: ofKind('link_closed').map(({ linkId }) => linkId),
    screens: ofKind('screen'),
  };
}
