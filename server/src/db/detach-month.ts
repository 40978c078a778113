import type { Client } from 'pg';
import { uuidFloor } from '../kit/ids.ts';
import type { DetachableMonth } from './months.ts';
import { ownerClient } from './owner-client.ts';

const NAME = /^[a-z_]+$/;
const MONTH = /^\d{6}$/;

/**
 * Detaches monthly partitions one by one, as the schema owner. CONCURRENTLY waits for active readers and writers without
 * blocking new ones. PostgreSQL runs it in two transactions of its own, so it cannot be part of ours. A detach that was
 * interrupted between them leaves the partition invisible and pending; this function finalizes it.
 * @param onDetached called after each partition
 */
export async function detachMonths(
  ownerUrl: string,
  months: readonly DetachableMonth[],
  onDetached: (month: DetachableMonth) => void,
): Promise<void> {
  await asOwner(ownerUrl, async (client) => {
    for (const month of months) {
      const { parent, child } = tableNames(month);
      await client.query(
        `alter table ${parent} detach partition ${child} ${month.pending ? 'finalize' : 'concurrently'}`,
      );
      // Only the owner can access a detached partition. With row-level security left on, the owner's dump of it would be
      // empty.
      await client.query(`alter table ${child} no force row level security, disable row level security`);
      onDetached(month);
    }
  });
}

/** Re-attaches a partition that was just detached. Fast: the check constraint left by DETACH proves the partition bounds. */
export async function reattachMonth(ownerUrl: string, month: DetachableMonth): Promise<void> {
  const { parent, child } = tableNames(month);
  const [year, number] = [Number(month.month.slice(0, 4)), Number(month.month.slice(4))];
  const bound = (index: number) => `'${uuidFloor(Date.UTC(year, index, 1))}'`;
  await asOwner(ownerUrl, async (client) => {
    await client.query(`alter table ${child} enable row level security, force row level security`);
    await client.query(
      `alter table ${parent} attach partition ${child} for values from (${bound(number - 1)}) to (${bound(number)})`,
    );
  });
}

async function asOwner(ownerUrl: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = ownerClient(ownerUrl, 'caudal-months');
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function tableNames({ table, month }: DetachableMonth): { readonly parent: string; readonly child: string } {
  if (!NAME.test(table) || !MONTH.test(month))
    throw new Error(`"${table}_${month}" is not a monthly partition`);
  return { parent: `caudal.${table}`, child: `caudal.${table}_${month}` };
}
