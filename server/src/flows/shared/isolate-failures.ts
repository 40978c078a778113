import { isPassing } from '../../db/failures.ts';

/** So long what cannot be worked waits for somebody to look into it. */
export const POSTPONE_MS = 600_000;

/**
 * After a batch has failed: each part of it alone, so that one that cannot be written does not hold up its neighbours.
 * @param failure of the batch
 * @param guilty what to do about a part that fails alone, too
 * @throws what is passing (the database is away, somebody is in the way): nothing is wrong with the parts then
 */
export async function isolateFailures<Part>(
  failure: unknown,
  parts: Iterable<Part>,
  alone: (part: Part) => Promise<unknown>,
  guilty: (part: Part, error: unknown) => Promise<unknown>,
): Promise<void> {
  if (isPassing(failure)) throw failure;
  for (const part of parts) {
    try {
      await alone(part);
    } catch (error) {
      if (isPassing(error)) throw error;
      await guilty(part, error);
    }
  }
}
