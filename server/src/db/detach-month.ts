import type { Client } from 'pg';
import { uuidFloor } from '../kit/ids.ts';
import type { LeavingMonth } from './months.ts';
import { ownerClient } from './owner-client.ts';

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
  await asOwner(ownerUrl, async (client) => {
    for (const month of months) {
      const { parent, child } = namesOf(month);
      await client.query(
        `alter table ${parent} detach partition ${child} ${month.pending ? 'finalize' : 'concurrently'}`,
      );
      // Nobody but its owner has a right to it now; with the wall left standing the owner's own dump would be empty.
      await client.query(`alter table ${child} no force row level security, disable row level security`);
      done(month);
    }
  });
}

/** Takes a month back that was detached a moment ago. Quickly: the check that detaching left behind vouches for its rows. */
export async function reattachMonth(ownerUrl: string, month: LeavingMonth): Promise<void> {
  const { parent, child } = namesOf(month);
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

function namesOf({ table, month }: LeavingMonth): { readonly parent: string; readonly child: string } {
  if (!NAME.test(table) || !MONTH.test(month)) throw new Error(`"${table}_${month}" is no month of a table`);
  return { parent: `caudal.${table}`, child: `caudal.${table}_${month}` };
}
