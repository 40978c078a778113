import { isTransient } from '../../db/failures.ts';

/** Delay before retrying an item that fails on its own. */
export const POSTPONE_MS = 600_000;

/**
 * Processes items as one batch; if that fails, one by one.
 * @param onFailure called for an item that fails on its own
 * @throws transient errors, like `isolateFailures`
 */
export async function processIsolated<Item>(
  items: readonly Item[],
  process: (items: readonly Item[]) => Promise<unknown>,
  onFailure: (item: Item, error: unknown) => Promise<unknown>,
): Promise<void> {
  await process(items).catch((error: unknown) =>
    isolateFailures(error, items, (item) => process([item]), onFailure),
  );
}

/**
 * Processes the items of a failed batch one by one, so that a failing item does not block the others.
 * @param batchError the error of the batch
 * @param onFailure called for an item that fails on its own
 * @throws transient errors (database unavailable, lock conflict), because the items themselves are not at fault
 */
export async function isolateFailures<Item>(
  batchError: unknown,
  items: Iterable<Item>,
  processOne: (item: Item) => Promise<unknown>,
  onFailure: (item: Item, error: unknown) => Promise<unknown>,
): Promise<void> {
  if (isTransient(batchError)) throw batchError;
  for (const item of items) {
    try {
      await processOne(item);
    } catch (error) {
      if (isTransient(error)) throw error;
      await onFailure(item, error);
    }
  }
}
