/** What somebody may have meant: the known word that the fewest slips of the finger lead to; null when none is near. */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(typed.length / 3));
  let best: { word: string; slips: number } | null = null;
  for (const word of known) {
    const slips = slipsBetween(typed.toLowerCase(), word.toLowerCase());
    if (slips <= limit && (best === null || slips < best.slips)) best = { word, slips };
  }
  return best?.word ?? null;
}

/** Letters left out, added, changed or swapped with their neighbour. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
