import { journalLines } from './journal-lines.ts';

/** A period in which a worker died or the database was down. */
export interface Incident {
  readonly from: number;
  readonly until: number;
}

type Line =
  /** A worker died, for any reason. */
  | { readonly kind: 'died'; readonly at: string; readonly name: string }
  | { readonly kind: 'database_down'; readonly from: string; readonly until: string };

/** @param path undefined means that no incident happened */
export function readIncidents(path: string | undefined): Incident[] {
  const lines = path === undefined ? [] : journalLines<Line>(path);
  return lines.map((line) =>
    line.kind === 'died'
      ? { from: Date.parse(line.at), until: Date.parse(line.at) }
      : { from: Date.parse(line.from), until: Date.parse(line.until) },
  );
}
