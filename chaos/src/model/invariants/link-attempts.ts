import type { LinkRow, PayinRow } from '../snapshot.ts';
import type { View } from '../view.ts';

/** A link of the history with its attempts, as stored. */
export interface StoredLink {
  readonly row: LinkRow;
  readonly attempts: readonly PayinRow[];
}

export function storedLinks({ snapshot }: View): StoredLink[] {
  return snapshot.links.map((row) => ({
    row,
    attempts: snapshot.payins.filter(({ link }) => link === row.id),
  }));
}

/** An attempt that received less than was missing: its money waits in suspense for the rest. */
export function isPart({ link, error }: PayinRow): boolean {
  return link !== null && error === 'UNDERPAID';
}

export function sumOfParts(payins: readonly PayinRow[]): bigint {
  return payins.filter(isPart).reduce((sum, { confirmed }) => sum + BigInt(confirmed ?? 0), 0n);
}
