import { errors } from 'undici';

/**
 * Why there is no response. Merchants see these codes, so the list is closed and excludes error messages, which can
 * contain addresses of our network. docs/guides/webhooks.md explains each code.
 */
export const FAILURE_REASONS = [
  /** At least one address of the name is not on the public internet. */
  'refused_address',
  /** The name has no address, or its DNS servers do not respond. */
  'dns',
  /** The connection was not accepted. */
  'connect',
  /** The certificate is not for this name, not trusted or not valid, or the handshake failed. */
  'tls',
  /** The connect deadline or the total deadline passed. */
  'timeout',
  /** The connection ended before the response headers arrived. */
  'reset',
  'too_large_headers',
  /** The response is not HTTP/1.1, or the request cannot be expressed in it. */
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

/** Maps undici's errors to failure reasons. */
export function toFailureReason(error: unknown): FailureReason {
  if (error instanceof SendFailure) return error.reason;
  if (error instanceof errors.HeadersOverflowError) return 'too_large_headers';
  // Matched by class: this version of undici gives parser errors no code.
  if (error instanceof errors.HTTPParserError || isInvalidRequest(error)) return 'malformed';
  return 'reset';
}

/** undici rejects a header or URL that HTTP cannot carry, or a content length that differs from the body's. */
function isInvalidRequest(error: unknown): boolean {
  return (
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.NotSupportedError ||
    error instanceof errors.RequestContentLengthMismatchError
  );
}
