import type { RailFacts } from './rail-facts.ts';
import type { PayinRow, Rows } from './rows.ts';
import type { Told } from './told.ts';

type OwnerOf = (rail: string, reference: string) => PayinRow | null;

/** What three witnesses say of the same run. */
export interface World {
  readonly told: Told;
  readonly rail: RailFacts;
  readonly rows: Rows;
  /** Everything has come to its end, so nothing may be outstanding. */
  readonly drained: boolean;
  /** Whose a reference at a rail is: a key by the payin that shows it, a reference at PSE by the id it carries. */
  readonly ownerOf: OwnerOf;
}

export function worldOf(parts: Omit<World, 'ownerOf'>): World {
  return { ...parts, ownerOf: ownerFinder(parts.rows) };
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

function uuidOf(letters: string): string | null {
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
