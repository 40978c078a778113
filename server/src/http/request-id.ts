import type { IncomingMessage } from 'node:http';
import { randomBase32 } from '../kit/ids.ts';

/** Ids that this service generates. A client cannot choose one of them. */
const OWN_PREFIX = 'req_';
/** Safe in a header, a log line and a URL. */
const ACCEPTED = /^[A-Za-z0-9._:-]{1,64}$/;

export function newRequestId(): string {
  return `${OWN_PREFIX}${randomBase32(20)}`;
}

/** The id that the client chose in `X-Request-Id`, if it is acceptable; otherwise a new one. */
export function toRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const chosen = headers['x-request-id'];
  return typeof chosen === 'string' && ACCEPTED.test(chosen) && !chosen.toLowerCase().startsWith(OWN_PREFIX)
    ? chosen
    : newRequestId();
}
