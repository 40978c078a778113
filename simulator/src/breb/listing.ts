import { nowMs } from '../clock.ts';
import type { State } from '../state.ts';
import { COLLECTOR, type DirectoryCode, type Holder, type Listing } from './directory.ts';
import { keyStatus } from './key-status.ts';
import { TEST_KEYS } from './test-keys.ts';

const REFUSALS = { SUSPENDED_BY_CLIENT: '0005', SUSPENDED_BY_PARTICIPANT: '0006' } as const;

/** Whom a key, as `readKey` writes it, leads to at this moment; a code when money cannot be sent to it. */
export function findHolder(state: State, key: string): Holder | DirectoryCode {
  const listing = findListing(state, key);
  if (listing === null) return '0004';
  return listing.status === 'ACTIVE' ? listing.holder : REFUSALS[listing.status];
}

export function findListing(state: State, key: string): Listing | null {
  const said = state.directory.listed.get(key);
  if (said !== undefined) return said;
  const test = TEST_KEYS.get(key);
  if (test !== undefined) return test.listing;
  return isPayable(state, key) ? { status: 'ACTIVE', holder: COLLECTOR } : null;
}

/** An expired key stays REGISTERED until it is closed, but nobody can send money to it any more. */
function isPayable({ keys, clock }: State, key: string): boolean {
  const known = keys.byKey.get(key);
  if (known === undefined || keyStatus(known) !== 'REGISTERED') return false;
  return nowMs(clock) < Date.parse(known.registration?.expiresAt ?? '');
}
