interface SentLink {
  readonly organizationId: string;
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly hasCustomer: boolean;
}

/** What merchants and payers know of links. */
export interface LinksTold {
  readonly sent: readonly SentLink[];
  readonly created: readonly (SentLink & { readonly linkId: string })[];
  /** Attempts that payers were told are theirs. */
  readonly begun: readonly { readonly linkId: string; readonly payinId: string }[];
  /** Links that their merchants were told are closed. */
  readonly closed: readonly string[];
}

export type LinkLine =
  | ({ readonly kind: 'link sent' } & SentLink)
  | ({ readonly kind: 'link created'; readonly linkId: string } & SentLink)
  | { readonly kind: 'attempt begun'; readonly linkId: string; readonly payinId: string }
  | { readonly kind: 'link closed'; readonly linkId: string };

export function linksTold(lines: readonly { readonly kind: string }[]): LinksTold {
  const of = <Kind extends LinkLine['kind']>(kind: Kind) =>
    lines.filter((line): line is Extract<LinkLine, { kind: Kind }> => line.kind === kind);
  return {
    sent: of('link sent'),
    created: of('link created'),
    begun: of('attempt begun'),
    closed: of('link closed').map(({ linkId }) => linkId),
  };
}
