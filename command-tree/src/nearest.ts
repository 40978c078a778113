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

/** Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of adjacent letters. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
