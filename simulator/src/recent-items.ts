const RECENT_LIMIT = 200;

/** Keeps the most recent items. Trims in batches: a shift per item would be slow for millions of items. */
export function appendRecent<T>(recent: T[], item: T): void {
  recent.push(item);
  if (recent.length >= 2 * RECENT_LIMIT) recent.splice(0, RECENT_LIMIT);
}
