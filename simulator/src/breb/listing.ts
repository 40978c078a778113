import { nowMs } from '../clock.ts';
import type { State } from '../state.ts';
import { COLLECTOR, type DirectoryCode, type Holder, type Listing } from './directory.ts';
import { keyStatus } from './key-status.ts';
import { TEST_KEYS } from './test-keys.ts';

const SUSPENSION_CODES = { SUSPENDED_BY_CLIENT: '0005', SUSPENDED_BY_PARTICIPANT: '0006' } as const;

/** Current holder of a key normalized by `readKey`; a directory code when the key cannot receive money. */
export function findHolder(state: State, key: string): Holder | DirectoryCode {
  const listing = findListing(state, key);
  if (listing === null) return '0004';
  return listing.status === 'ACTIVE' ? listing.holder : SUSPENSION_CODES[listing.status];
}

export function findListing(state: State, key: string): Listing | null {
  const override = state.directory.overrides.get(key);
  if (override !== undefined) return override;
  const test = TEST_KEYS.get(key);
  if (test !== undefined) return test.listing;
  return isPayable(state, key) ? { status: 'ACTIVE', holder: COLLECTOR } : null;
}

/** An expired key stays REGISTERED until it is closed, but no longer resolves. */
function isPayable({ keys, clock }: State, key: string): boolean {
  const known = keys.byKey.get(key);
  if (known === undefined || keyStatus(known) !== 'REGISTERED') return false;
  return nowMs(clock) < Date.parse(known.registration?.expiresAt ?? '');
}
