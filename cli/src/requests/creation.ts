import { randomBytes } from 'node:crypto';
import { CaudalError } from '@caudal/sdk';
import { UnknownOutcomeError } from '../framework/errors.ts';

const REFERENCE_ALPHABET = 'abcdefghjkmnpqrstvwxyz0123456789';

/** A random reference, short enough to read in a list. */
export function newReference(prefix: string): string {
  const tail = [...randomBytes(10)].map((byte) => REFERENCE_ALPHABET.charAt(byte & 31)).join('');
  return `${prefix}-${tail}`;
}

export function newIdempotencyKey(): string {
  return newReference('cli');
}

/**
 * Creates a resource. When the outcome is unknown, the error tells the user the idempotency key and reference to retry
 * with, so that the creation takes effect only once.
 */
export async function createOnce<T>(
  creation: { readonly reference: string; readonly idempotencyKey: string },
  create: () => Promise<T>,
): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof CaudalError && error.outcomeUnknown)) throw error;
    // The SDK's message tells a program how to retry; this one tells a person.
    const [cause = error.message] = error.message.split('. It may or may not');
    throw new UnknownOutcomeError(cause, [
      'The outcome is unknown. Run the same command again with these options; it takes effect only once:',
      `  --idempotency-key ${creation.idempotencyKey} --reference ${quoted(creation.reference)}`,
    ]);
  }
}

function quoted(text: string): string {
  return /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
