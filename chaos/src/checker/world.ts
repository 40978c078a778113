import type { ClientFacts } from './client-facts.ts';
import type { ClientPayoutFacts } from './client-payout-facts.ts';
import type { Incident } from './incidents.ts';
import type { InvariantCode } from './invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { RailFacts } from './rail-facts.ts';
import type { PayoutFacts } from './rail-orders.ts';
import type { PayinRow, Rows } from './rows.ts';
import type { Received, SinkFacts } from './sink-journal.ts';

type FindOwner = (rail: string, reference: string) => PayinRow | null;

/** The independent records of one run. */
export interface World {
  readonly client: ClientFacts;
  readonly rail: RailFacts;
  readonly rows: Rows;
  /** Requests that merchants' endpoints received, read before and after the database. */
  readonly sinks: {
    readonly before: readonly Received[];
    readonly after: readonly Received[];
    readonly bodies: SinkFacts['bodies'];
  };
  /** Incidents that may have kept a delivery from being recorded. */
  readonly incidents: readonly Incident[];
  /** The run is drained, so no work may be pending. */
  readonly drained: boolean;
  /** Finds the payin of a rail reference: by its key, or by the id encoded in a PSE reference. */
  readonly findOwner: FindOwner;
  /** Lines of the rails' journal up to this one were written before the database was read. */
  readonly knownSeq: number;
  /** The first request for a payout; null if no merchant requested it. */
  readonly requestFor: (payout: PayoutRow) => ClientPayoutFacts['sent'][number] | null;
  /** The rail's responses to queries of an order. */
  readonly answersFor: (endToEndId: string) => PayoutFacts['orderAnswers'];
}

type RunRecords = Pick<World, 'client' | 'rail' | 'rows' | 'sinks' | 'incidents' | 'drained'>;

export function buildWorld(records: RunRecords, knownSeq = Number.POSITIVE_INFINITY): World {
  const { client, rail, rows } = records;
  const name = (row: { organizationId: string; reference: string }) =>
    `${row.organizationId} ${row.reference}`;
  const requests = new Map(client.payouts.sent.toReversed().map((sent) => [name(sent), sent]));
  const answers = Map.groupBy(rail.payouts.orderAnswers, ({ endToEndId }) => endToEndId);
  return {
    ...records,
    findOwner: createOwnerFinder(rows),
    knownSeq,
    requestFor: (payout) => requests.get(name(payout)) ?? null,
    answersFor: (endToEndId) => answers.get(endToEndId) ?? [],
  };
}

export interface Violation {
  readonly invariant: InvariantCode;
  readonly detail: string;
  readonly row: unknown;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function createOwnerFinder(rows: Rows): FindOwner {
  const byKey = new Map(
    rows.payins.flatMap((payin) => (payin.key === null ? [] : [[payin.key, payin] as const])),
  );
  return (rail, reference) => {
    if (rail === 'BRE_B') return byKey.get(reference) ?? null;
    const id = decodeUuid(reference.slice(0, 26));
    return id === null ? null : (rows.payinById.get(id) ?? null);
  };
}

/** Decodes a UUID from its 26 characters in Crockford base32. */
export function decodeUuid(letters: string): string | null {
  let value = 0n;
  for (const letter of letters) value = value * 32n + BigInt(Math.max(0, CROCKFORD.indexOf(letter)));
  const digits = value.toString(16).padStart(32, '0');
  if (digits.length !== 32) return null;
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-');
}

export const FINAL: ReadonlySet<string> = new Set(['CONFIRMED', 'DECLINED', 'CANCELED']);
