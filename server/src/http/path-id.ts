import { z } from 'zod';
import { ApiError } from '../kit/errors.ts';
import { isUuid } from '../kit/ids.ts';

/** @throws ApiError `not_found` for a malformed id, the same answer as for an unknown id */
export function parseId(param: string): string {
  const id = param.toLowerCase();
  if (!isUuid(id)) throw new ApiError('not_found');
  return id;
}

/** A path parameter that `parseId` reads. */
export function idParameter(description: string, example: string) {
  return z.string().describe(description).meta({ format: 'uuid', example });
}
