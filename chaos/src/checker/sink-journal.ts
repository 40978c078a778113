import { createHmac } from 'node:crypto';
import { journalLines } from './journal-lines.ts';

/** A request that a sink received. */
export interface Received {
  readonly at: string;
  readonly sink: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly bodyHash: string;
  readonly event: string | null;
  readonly resourceId: string | null;
  /** Null when the connection ended without a response. */
  readonly answered: number | null;
}

/** Everything that the sinks received. */
export interface SinkFacts {
  readonly received: readonly Received[];
  readonly bodies: ReadonlyMap<string, string>;
}

type Line =
  | ({ readonly kind: 'received' } & Received)
  | { readonly kind: 'body'; readonly bodyHash: string; readonly text: string };

/** @param path undefined when no merchant of the run has an endpoint */
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

/** Verifies the signature per Standard Webhooks 1.0, without server code: one signature must match one secret. */
export function isSignedBy(received: Received, body: string, secrets: readonly string[]): boolean {
  const { id, timestamp, signature } = received;
  const signatures = signature.split(' ');
  return secrets.some((secret) => {
    const secretKey = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const expected = createHmac('sha256', secretKey).update(`${id}.${timestamp}.${body}`).digest('base64');
    return signatures.includes(`v1,${expected}`);
  });
}
