import type { DatabaseError } from 'pg';
import { failedStatement, isLockTimeout } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { isReservationTimeout, lockIdempotencyTable } from '../../idempotency/idempotency.store.ts';
import { canonicalJson } from '../../kit/canonical-json.ts';
import { hmac } from '../../kit/crypto.ts';
import { ApiError } from '../../kit/errors.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import type { Created, Creation } from './create-once.ts';

/** The idempotency data of a request. */
export interface Idempotency {
  readonly key: string;
  /** The request body as received. */
  readonly body: unknown;
}

/** @param operation scopes the idempotency key: the same key may be used for another operation */
export function idempotencyReservation(
  { hashKey }: OrganizationSecrets,
  operation: string,
  idempotency: Idempotency | null,
): Creation['idempotency'] {
  return (
    idempotency && {
      keyHash: hmac(hashKey, `${operation}\n${idempotency.key}`).subarray(0, 16),
      bodyHash: hmac(hashKey, canonicalJson(idempotency.body)).subarray(0, 16),
    }
  );
}

/** Maps an answer that neither created nor replayed a resource to its API error. */
export function toCreationError(
  answer: Exclude<Created<unknown>, { kind: 'created' | 'replayed' }>,
): ApiError {
  switch (answer.kind) {
    case 'reference_taken':
      return new ApiError('reference_taken', { members: { existingId: answer.existingId } });
    case 'idempotency_mismatch':
      return new ApiError('idempotency_mismatch');
    case 'rejected':
      return answer.error;
  }
}

/** Maps the database error of a single command to an API error. */
export async function toDatabaseRejection(
  deps: Pick<Deps, 'batch'>,
  command: Creation,
  error: DatabaseError,
): Promise<ApiError> {
  if (!isLockTimeout(error))
    return new ApiError('internal_error', {
      cause: error,
      reason: `the database rejected a creation with SQLSTATE ${error.code}`,
    });
  // Only a lock on this idempotency key means that an earlier request is in flight; any other lock is internal.
  if (command.idempotency && isReservationTimeout(error) && (await isTableUnlocked(deps)))
    return new ApiError('idempotency_in_flight', { cause: error });
  return new ApiError('service_unavailable', {
    cause: error,
    reason: `lock timeout in ${failedStatement(error)}`,
  });
}

async function isTableUnlocked({ batch }: Pick<Deps, 'batch'>): Promise<boolean> {
  try {
    await batch.write('read', new Set(), lockIdempotencyTable);
    return true;
  } catch {
    return false;
  }
}
