import { journalLines } from './journal-lines.ts';

/** A time in which something that sends or keeps deliveries died or was away. */
export interface Incident {
  readonly from: number;
  readonly until: number;
}

type Line =
  /** A worker, by whatever killed it. */
  | { readonly kind: 'died'; readonly at: string; readonly name: string }
  | { readonly kind: 'database away'; readonly from: string; readonly until: string };

/** @param path none when nobody wrote down who died: then nobody did */
export function readIncidents(path: string | undefined): Incident[] {
  const lines = path === undefined ? [] : journalLines<Line>(path);
  return lines.map((line) =>
    line.kind === 'died'
      ? { from: Date.parse(line.at), until: Date.parse(line.at) }
      : { from: Date.parse(line.from), until: Date.parse(line.until) },
  );
}
