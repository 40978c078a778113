import { isUuid } from '../kit/ids.ts';
import { readFailure, readMayBeRepeated } from './failures.ts';
import type { RolePool } from './pool.ts';
import type { TransactionName } from './transactions.ts';
import type { Tx } from './tx.ts';

/** Enough for a transaction that is about to end, not for one that hangs. */
const BRIEFLY_MS = 50;

/** Reads for one organization: row-level security shows nothing else. */
export interface ReadDb {
  read<T>(organizationId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Writes for the organizations whose credentials are in the batch, and for no other. */
export interface BatchDb {
  /** @param patient whether to wait for rows that another transaction holds */
  write<T>(
    name: TransactionName,
    organizationIds: ReadonlySet<string>,
    work: (tx: Tx) => Promise<T>,
    patient?: boolean,
  ): Promise<T>;
}

export function readDb(pool: RolePool): ReadDb {
  return {
    async read(organizationId, work) {
      const begin = `begin read only; set local caudal.organization_id = '${checked(organizationId)}'`;
      try {
        return await pool.transaction(begin, work);
      } catch (error) {
        // A pooled connection that died in a failover says so only when it is used; a fresh one may do.
        if (!readMayBeRepeated(error)) throw readFailure(error);
        return await pool
          .transaction(begin, work)
          .catch((again: unknown) => Promise.reject(readFailure(again)));
      }
    },
  };
}

export function batchDb(pool: RolePool): BatchDb {
  return {
    write: (name, organizationIds, work, patient = true) => {
      const list = [...organizationIds].map(checked).join(',');
      const briefly = patient ? '' : `; set local lock_timeout = ${BRIEFLY_MS}`;
      return pool.transaction(`begin; set local caudal.organization_ids = '{${list}}'${briefly}`, work, name);
    },
  };
}

/** The id goes into the text of a statement: SET takes no parameters, and one round trip is enough this way. */
function checked(id: string): string {
  if (!isUuid(id)) throw new Error('not an organization id');
  return id;
}
