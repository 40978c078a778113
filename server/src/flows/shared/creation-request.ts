import type { DatabaseError } from 'pg';
import { isLockTimeout, statementOf } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { isReservationTimeout, lockIdempotencyTable } from '../../idempotency/idempotency.store.ts';
import { canonicalJson } from '../../kit/canonical-json.ts';
import { hmac } from '../../kit/crypto.ts';
import { ApiError } from '../../kit/errors.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import type { Created, Creation } from './create-once.ts';

/** What a request says of its own repetition. */
export interface Idempotency {
  readonly key: string;
  /** The body as it was sent. */
  readonly body: unknown;
}

/** @param operation idempotency keys are remembered per operation */
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

/** What is answered when nothing was created and nothing replayed. */
export function faultOf(answer: Exclude<Created<unknown>, { kind: 'created' | 'replayed' }>): ApiError {
  switch (answer.kind) {
    case 'reference_taken':
      return new ApiError('reference_taken', { members: { existingId: answer.existingId } });
    case 'idempotency_mismatch':
      return new ApiError('idempotency_mismatch');
    case 'refused':
      return answer.fault;
  }
}

/** A single command that the database refused. */
export async function databaseRefusal(
  deps: Pick<Deps, 'batch'>,
  command: Creation,
  error: DatabaseError,
): Promise<ApiError> {
  if (!isLockTimeout(error))
    return new ApiError('internal_error', {
      reason: `a creation was refused by the database with ${error.code}`,
    });
  // Only a holder of this very key means that an earlier request is under way; any other lock is our own affair.
  if (command.idempotency && isReservationTimeout(error) && (await tableIsFree(deps)))
    return new ApiError('idempotency_in_flight', { cause: error });
  return new ApiError('service_unavailable', {
    cause: error,
    reason: `lock timeout in ${statementOf(error)}`,
  });
}

async function tableIsFree({ batch }: Pick<Deps, 'batch'>): Promise<boolean> {
  try {
    await batch.write('read', new Set(), lockIdempotencyTable);
    return true;
  } catch {
    return false;
  }
}
