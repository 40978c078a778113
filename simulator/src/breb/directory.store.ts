import type { Holder, Listing } from './directory.ts';

/** The simulator's clock; counted to the moment the order arrives. */
const RESOLUTION_LIFE_MS = 10 * 60_000;

/** What a lookup promised: this key, of this holder. */
type Resolution = { readonly key: string; readonly holder: Holder; readonly at: string };

export type NoListing = { readonly status: null; readonly holder: null };

export type Directory = {
  /** What the control interface said of a key, test keys too; null when it took the key out. */
  readonly listed: Map<string, Listing | null>;
  readonly resolutions: Map<string, Resolution>;
};

export function emptyDirectory(): Directory {
  return { listed: new Map(), resolutions: new Map() };
}

/** Nulls take the key out. */
export function storeListing(
  { listed }: Directory,
  key: string,
  { status, holder }: Listing | NoListing,
): void {
  listed.set(key, holder === null || status === null ? null : { status, holder });
}

export function storeResolution({ resolutions }: Directory, id: string, resolution: Resolution): void {
  resolutions.set(id, resolution);
}

export function isFresh(resolution: Resolution, at: string): boolean {
  return Date.parse(at) - Date.parse(resolution.at) <= RESOLUTION_LIFE_MS;
}
