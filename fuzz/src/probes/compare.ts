import { type Answer, header } from '../wire/answer.ts';
import type { Probe } from './probe.ts';

/** @returns how the answer to a foreign value differs from the answer to an unknown one, or null */
export function findDifference(probe: Probe, foreign: Answer, unknown: Answer): string | null {
  const one = comparable(probe, foreign);
  const other = comparable(probe, unknown);
  return one === other ? null : `${one.slice(0, 600)}\n        instead of ${other.slice(0, 600)}`;
}

/** The answer without what differs between any two requests: its id, its path, times, and the value that was sent. */
function comparable({ changes }: Probe, answer: Answer): string {
  const type = header(answer, 'content-type');
  const replayed = header(answer, 'idempotent-replayed');
  const start = `${answer.status} ${type} ${replayed ?? ''}`;
  if (type === 'text/event-stream') return start;
  const text = answer.body.toString('utf8');
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    if (answer.status < 300 && changes) return `${start} ${Object.keys(body).sort().join()}`;
    for (const member of ['requestId', 'instance', 'access_token', 'expiresAt']) delete body[member];
    return `${start} ${JSON.stringify(body)}`;
  } catch {
    return `${start} ${text}`;
  }
}
