import type { FastifyError } from 'fastify';
import type { ErrorCode } from '../kit/error-catalogue.ts';
import { ApiError } from '../kit/errors.ts';

const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_BAD_URL: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

/** Maps framework errors to API errors. Unknown 4xx become `malformed_request`; anything else is a bug: `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const known = FRAMEWORK_ERRORS[code];
  if (known) return new ApiError(known);
  const isClientError = statusCode >= 400 && statusCode < 500;
  return new ApiError(isClientError ? 'malformed_request' : 'internal_error', { cause: error });
}
