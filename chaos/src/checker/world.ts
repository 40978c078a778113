import type { Incident } from './incidents.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { PayoutsTold } from './payout-told.ts';
import type { RailFacts } from './rail-facts.ts';
import type { PayoutFacts } from './rail-orders.ts';
import type { PayinRow, Rows } from './rows.ts';
import type { Received, SinkFacts } from './sink-journal.ts';
import type { Told } from './told.ts';

type OwnerOf = (rail: string, reference: string) => PayinRow | null;

/** What four witnesses say of the same run. */
export interface World {
  readonly told: Told;
  readonly rail: RailFacts;
  readonly rows: Rows;
  /** What came to merchants' endpoints before the database was read, and after. */
  readonly sinks: {
    readonly before: readonly Received[];
    readonly after: readonly Received[];
    readonly bodies: SinkFacts['bodies'];
  };
  /** What may have kept a delivery from being written down. */
  readonly incidents: readonly Incident[];
  /** Everything has come to its end, so nothing may be outstanding. */
  readonly drained: boolean;
  /** Whose a reference at a rail is: a key by the payin that shows it, a reference at PSE by the id it carries. */
  readonly ownerOf: OwnerOf;
  /** Whatever the rails' journal has up to here had happened before the database was read. */
  readonly knownSeq: number;
  /** The first request for a payout; null for one that no merchant asked for. */
  readonly askedFor: (payout: PayoutRow) => PayoutsTold['sent'][number] | null;
  /** What the rail answered when it was asked about an order. */
  readonly answersTo: (endToEndId: string) => PayoutFacts['orderAnswers'];
}

type Witnesses = Pick<World, 'told' | 'rail' | 'rows' | 'sinks' | 'incidents' | 'drained'>;

export function worldOf(witnesses: Witnesses, knownSeq = Number.POSITIVE_INFINITY): World {
  const { told, rail, rows } = witnesses;
  const name = (of: { organizationId: string; reference: string }) => `${of.organizationId} ${of.reference}`;
  const asked = new Map(told.payouts.sent.toReversed().map((sent) => [name(sent), sent]));
  const answers = Map.groupBy(rail.payouts.orderAnswers, ({ endToEndId }) => endToEndId);
  return {
    ...witnesses,
    ownerOf: ownerFinder(rows),
    knownSeq,
    askedFor: (payout) => asked.get(name(payout)) ?? null,
    answersTo: (endToEndId) => answers.get(endToEndId) ?? [],
  };
}

export interface Violation {
  readonly promise: string;
  readonly what: string;
  readonly row: unknown;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function ownerFinder(rows: Rows): OwnerOf {
  const byKey = new Map(
    rows.payins.flatMap((payin) => (payin.key === null ? [] : [[payin.key, payin] as const])),
  );
  return (rail, reference) => {
    if (rail === 'BRE_B') return byKey.get(reference) ?? null;
    const id = uuidOf(reference.slice(0, 26));
    return id === null ? null : (rows.payinById.get(id) ?? null);
  };
}

/** An id out of its 26 letters in Crockford's base32. */
export function uuidOf(letters: string): string | null {
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
