import { randomBytes } from 'node:crypto';
import { CaudalError } from '@caudal/sdk';
import { UnknownOutcome } from './errors.ts';

const LETTERS = 'abcdefghjkmnpqrstvwxyz0123456789';

/** A name that was not used before: short, and readable in a list. */
export function newReference(prefix: string): string {
  const tail = [...randomBytes(10)].map((byte) => LETTERS.charAt(byte & 31)).join('');
  return `${prefix}-${tail}`;
}

export function newIdempotencyKey(): string {
  return newReference('cli');
}

/**
 * Creates once. When nobody can say whether it took effect, the user is told with what to repeat it, for then it takes
 * effect once in all.
 */
export async function createOnce<T>(
  made: { readonly reference: string; readonly idempotencyKey: string },
  create: () => Promise<T>,
): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof CaudalError && error.outcomeUnknown)) throw error;
    // The SDK says how a program repeats it; here a person does.
    const [cause = error.message] = error.message.split('. It may or may not');
    throw new UnknownOutcome(cause, [
      'It is not known whether this took effect. Repeat the same command with these two, and it takes effect once:',
      `  --idempotency-key ${made.idempotencyKey} --reference ${quoted(made.reference)}`,
    ]);
  }
}

function quoted(text: string): string {
  return /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
