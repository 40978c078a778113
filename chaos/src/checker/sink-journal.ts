import { createHmac } from 'node:crypto';
import { journalLines } from './journal-lines.ts';

/** A request that came to a sink. */
export interface Received {
  readonly at: string;
  readonly sink: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly bodyHash: string;
  readonly event: string | null;
  readonly resourceId: string | null;
  /** Null: the connection ended without an answer. */
  readonly answered: number | null;
}

/** What the sinks say they were sent. */
export interface SinkFacts {
  readonly received: readonly Received[];
  readonly bodies: ReadonlyMap<string, string>;
}

type Line =
  | ({ readonly kind: 'received' } & Received)
  | { readonly kind: 'body'; readonly bodyHash: string; readonly text: string };

/** @param path none when no merchant of the run has an endpoint */
export function readSinks(path: string | undefined): SinkFacts {
  const lines = path === undefined ? [] : journalLines<Line>(path);
  return {
    received: lines.filter((line) => line.kind === 'received'),
    bodies: new Map(lines.flatMap((line) => (line.kind === 'body' ? [[line.bodyHash, line.text]] : []))),
  };
}

export function isAcknowledged({ answered }: Received): boolean {
  return answered !== null && answered >= 200 && answered < 300;
}

/** By the text of Standard Webhooks 1.0, and by nothing that the server has: one of its signatures is by one of these. */
export function isSignedBy(received: Received, body: string, secrets: readonly string[]): boolean {
  const { id, timestamp, signature } = received;
  const given = signature.split(' ');
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const right = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return given.includes(`v1,${right}`);
  });
}
