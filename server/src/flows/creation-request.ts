import { canonicalJson } from '../kit/canonical-json.ts';
import { hmac } from '../kit/crypto.ts';
import { Fault } from '../kit/errors.ts';
import type { OrganizationSecrets } from '../organizations/organization.ts';
import type { Created, Creation } from './create-once.ts';

/** What a request says of its own repetition. */
export interface Idempotency {
  readonly key: string;
  /** The body as it was sent. */
  readonly body: unknown;
}

/** @param operation idempotency keys are remembered per operation */
export function idempotencyClaim(
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
export function faultOf(answer: Exclude<Created<unknown>, { kind: 'created' | 'replayed' }>): Fault {
  switch (answer.kind) {
    case 'reference_taken':
      return new Fault('reference_taken', { members: { existingId: answer.existingId } });
    case 'idempotency_mismatch':
      return new Fault('idempotency_mismatch');
    case 'refused':
      return answer.fault;
  }
}

/** A single command that the database refused by itself. */
export function databaseRefusal(command: Creation, sqlState: string | undefined): Fault {
  // Somebody has held this command's key or reference for longer than we wait.
  if (sqlState === '55P03')
    return new Fault(command.idempotency ? 'idempotency_in_flight' : 'service_unavailable', {
      reason: 'lock not available',
    });
  return new Fault('internal_error', { reason: `a creation was refused by the database with ${sqlState}` });
}
