/** The known name closest to the typed one; null when none is close enough to suggest. */
export function nearest(typed: string, known: readonly string[]): string | null {
  const maxDistance = Math.max(1, Math.floor(typed.length / 3));
  let best: string | null = null;
  let minDistance = maxDistance + 1;
  for (const candidate of known) {
    const distance = editDistance(typed.toLowerCase(), candidate.toLowerCase());
    if (distance < minDistance) {
      minDistance = distance;
      best = candidate;
    }
  }
  return best ?? known.find((candidate) => typed.length >= 3 && candidate.startsWith(typed)) ?? null;
}

/** Damerau-Levenshtein distance: substitutions, deletions, insertions and swaps of neighbors. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j += 1) (rows[0] as number[])[j] = j;
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let minDistance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        minDistance = Math.min(minDistance, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = minDistance;
    }
  }
  return at(a.length, b.length);
}
