import { type Client, types } from 'pg';

/** Runs a statement; the caller ensures that all statements use one snapshot. */
export type Query = <Row>(text: string) => Promise<Row[]>;

/** PostgreSQL's OID of bigint. */
const INT8 = 20;

/** The driver returns bigint as text; parses it as BigInt. */
const MONEY = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? BigInt : types.getTypeParser(oid, format),
} as typeof types;

export function createQuery(client: Client): Query {
  return async <Row>(text: string) => (await client.query({ text, types: MONEY })).rows as Row[];
}
