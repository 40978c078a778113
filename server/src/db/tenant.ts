import { isUuid } from '../kit/ids.ts';
import { isReadRetryable, toReadError } from './failures.ts';
import type { RolePool } from './pool.ts';
import type { TransactionName } from './transactions.ts';
import type { Tx } from './tx.ts';

/** Long enough to wait for a transaction that is about to end, not for one that hangs. */
const SHORT_LOCK_TIMEOUT_MS = 50;

/**
 * Reads the rows of one organization; row-level security hides all others. All statements of one `read` see the same
 * snapshot: a page must not show an attempt, its link and its money as of different moments.
 */
export interface ReadDb {
  read<T>(organizationId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Writes rows of the organizations in the batch; row-level security rejects all others. */
export interface BatchDb {
  /** @param waitForLocks false gives up quickly on rows that another transaction has locked */
  write<T>(
    name: TransactionName,
    organizationIds: ReadonlySet<string>,
    work: (tx: Tx) => Promise<T>,
    waitForLocks?: boolean,
  ): Promise<T>;
}

export function readDb(pool: RolePool): ReadDb {
  return {
    async read(organizationId, work) {
      const begin = `begin isolation level repeatable read read only; set local caudal.organization_id = '${validateId(organizationId)}'`;
      try {
        return await pool.transaction(begin, work);
      } catch (error) {
        // A failover breaks pooled connections, which fails only the next use; a new connection may work.
        if (!isReadRetryable(error)) throw toReadError(error);
        return await pool
          .transaction(begin, work)
          .catch((again: unknown) => Promise.reject(toReadError(again)));
      }
    },
  };
}

export function batchDb(pool: RolePool): BatchDb {
  return {
    write: (name, organizationIds, work, waitForLocks = true) => {
      const ids = [...organizationIds].map(validateId).join(',');
      const timeout = waitForLocks ? '' : `; set local lock_timeout = ${SHORT_LOCK_TIMEOUT_MS}`;
      return pool.transaction(`begin; set local caudal.organization_ids = '{${ids}}'${timeout}`, work, name);
    },
  };
}

/** The id becomes part of the SQL text: SET takes no parameters, and this way one round trip is enough. */
function validateId(id: string): string {
  if (!isUuid(id)) throw new Error('not an organization id');
  return id;
}
