let count = 0;

/** Counts a request that this test file sent again after 503 `service_unavailable`. */
export function countRepeatedRequest(): void {
  count += 1;
}

export function repeatedRequests(): number {
  return count;
}
