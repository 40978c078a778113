import { errors } from 'undici';

/**
 * Why there is no answer. A merchant reads these words, so the list is closed and no text of an error, which can
 * quote addresses of our network, goes with them. docs/guides/webhooks.md says what to do about each.
 */
export const FAILURE_REASONS = [
  /** The name leads, among others or only, to an address that is not of the public internet. */
  'refused_address',
  /** The name has no address, or its servers do not say. */
  'dns',
  /** Nobody took up the connection. */
  'connect',
  /** The certificate is not for this name, not trusted or not valid, or the handshake failed. */
  'tls',
  /** A deadline passed, of the connection or of the whole. */
  'timeout',
  /** The connection ended before the head of an answer was there. */
  'reset',
  'too_large_headers',
  /** What came is not HTTP/1.1, or what was to be sent cannot be said in it. */
  'malformed',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export class SendFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason) {
    super(`webhook not sent: ${reason}`);
    this.reason = reason;
  }
}

/** What went wrong after the connection was there, out of undici's errors. */
export function reasonOf(error: unknown): FailureReason {
  if (error instanceof SendFailure) return error.reason;
  if (error instanceof errors.HeadersOverflowError) return 'too_large_headers';
  // Only by its class: this version of undici gives a parser's error no code.
  if (error instanceof errors.HTTPParserError || isRefusalToSend(error)) return 'malformed';
  return 'reset';
}

/** undici's own: a header or an address that HTTP cannot carry, or a length that is not the body's. */
function isRefusalToSend(error: unknown): boolean {
  return (
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.NotSupportedError ||
    error instanceof errors.RequestContentLengthMismatchError
  );
}
