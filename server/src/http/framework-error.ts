import type { FastifyError } from 'fastify';
import type { ErrorCode } from '../kit/error-catalogue.ts';
import { ApiError } from '../kit/errors.ts';

const FRAMEWORK_FAULTS: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

/** Errors of the framework by their own names; whatever else has no name is ours to look into. */
export function faultOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const known = FRAMEWORK_FAULTS[code];
  if (known) return new ApiError(known);
  const theirs = statusCode >= 400 && statusCode < 500;
  return new ApiError(theirs ? 'malformed_request' : 'internal_error', { cause: error });
}
