import { Client } from 'pg';
import type { LeavingMonth } from './months.ts';

const NAME = /^[a-z_]+$/;
const MONTH = /^\d{6}$/;

/**
 * Detaches months one after the other, as the owner of the schema. CONCURRENTLY: whoever reads or writes meanwhile is
 * waited for and keeps nobody waiting. That takes two transactions of its own and so cannot be part of ours; one that was
 * ended in between has left the month out of sight and pending, and is finished here.
 * @param done is told of each
 */
export async function detachMonths(
  ownerUrl: string,
  months: readonly LeavingMonth[],
  done: (month: LeavingMonth) => void,
): Promise<void> {
  const client = new Client({ connectionString: ownerUrl, application_name: 'caudal-months' });
  await client.connect();
  try {
    for (const month of months) {
      const { table, month: name, pending } = month;
      if (!NAME.test(table) || !MONTH.test(name))
        throw new Error(`"${table}_${name}" is no month of a table`);
      await client.query(
        `alter table caudal.${table} detach partition caudal.${table}_${name} ${pending ? 'finalize' : 'concurrently'}`,
      );
      // Nobody but its owner has a right to it now; with the wall left standing the owner's own dump would be empty.
      await client.query(
        `alter table caudal.${table}_${name} no force row level security, disable row level security`,
      );
      done(month);
    }
  } finally {
    await client.end();
  }
}
