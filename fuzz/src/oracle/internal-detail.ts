/**
 * Stack frames, file paths, SQL and messages of PostgreSQL and Node: nothing of it belongs in a response. Random values in
 * base64url, such as nonces, may also start with `pg_`; names of PostgreSQL have no capital letters.
 */
const INTERNAL =
  /\bat (?:async )?[\w.<>]+ \(|\bnode:internal|node_modules|\/src\/|\.ts:\d+|\b(?:TypeError|ReferenceError|RangeError|SyntaxError|AggregateError)\b|\bselect\b[^<"]{1,80}\bfrom caudal\.|\binsert into\b|syntax error at or near|violates (?:check|unique|foreign|not-null)|row-level security|invalid input syntax|\bE(?:CONNREFUSED|CONNRESET|PIPE|NOENT)\b|(?<![\w-])pg_[a-z0-9_]+(?![\w-])|permission denied/g;

export function findInternalDetails(text: string): string[] {
  return text.match(INTERNAL) ?? [];
}
