import type { Holder, Listing } from './directory.ts';

/** Measured on the simulator's clock, from the lookup to the intake of the order. */
const RESOLUTION_TTL_MS = 10 * 60_000;

/** The result of a lookup: the key and its holder at that time. */
type Resolution = { readonly key: string; readonly holder: Holder; readonly at: string };

export type NoListing = { readonly status: null; readonly holder: null };

export type Directory = {
  /** Listings set by the control API, test keys included; null when it removed the key. */
  readonly overrides: Map<string, Listing | null>;
  readonly resolutions: Map<string, Resolution>;
};

export function emptyDirectory(): Directory {
  return { overrides: new Map(), resolutions: new Map() };
}

/** A null status or holder removes the key from the directory. */
export function storeListing(
  { overrides }: Directory,
  key: string,
  { status, holder }: Listing | NoListing,
): void {
  overrides.set(key, holder === null || status === null ? null : { status, holder });
}

export function storeResolution({ resolutions }: Directory, id: string, resolution: Resolution): void {
  resolutions.set(id, resolution);
}

export function isFresh(resolution: Resolution, at: string): boolean {
  return Date.parse(at) - Date.parse(resolution.at) <= RESOLUTION_TTL_MS;
}
