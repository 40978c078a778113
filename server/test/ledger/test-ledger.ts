import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { type Cents, cents } from '../../src/kit/money.ts';
import { readBalances } from '../../src/ledger/balance.store.ts';
import { post } from '../../src/ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../../src/ledger/transfer.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { until } from '../harness/until.ts';

interface ConfirmedPayin {
  readonly organizationId: string;
  readonly amount: number;
  readonly rail?: 'BRE_B' | 'PSE';
  /** PostgreSQL interval until its money settles. */
  readonly settlesIn?: string;
  /** False: only a notification reported its payment. */
  readonly verified?: boolean;
}

/** A database with the server's components, in which tests post money without a rail. */
export interface TestLedger {
  readonly database: TestDatabase;
  readonly caudal: InProcess;
  /** Creates organizations. @returns their IDs */
  createOrganizations(count: number): Promise<string[]>;
  /** Inserts paid payins with their transfers. @returns their IDs, in the given order */
  insertConfirmed(payins: readonly ConfirmedPayin[]): Promise<string[]>;
  newId(): string;
  post(
    ...transfers: readonly (Omit<Transfer, 'amount' | 'id' | 'createdBy'> & { readonly amount: number })[]
  ): Promise<void>;
  /** Waits until a session of this database waits for a lock. */
  waitForLockWaiter(): Promise<void>;
  /** Pending, available and held cents. */
  readAmounts(organizationId: string): Promise<number[]>;
  close(): Promise<void>;
}

const INSERT = `
  insert into caudal.payins (organization_id, id, amount_in_cents, confirmed_amount_in_cents, currency, rail, status,
    settlement_status, settles_at, payment_execution_id, payment_verified_at, reference, breb_key_type, breb_key, pse_bank, pse_person_type, created_at, updated_at,
    expires_at, result_at)
  select organization_id, id, amount, amount, 'COP', rail, 'CONFIRMED', 'PENDING_SETTLEMENT', caudal.now() + settles_in,
    id::text, case when verified then caudal.now() end, id::text, case rail when 'BRE_B' then 'SINGLE_USE' end, case rail when 'BRE_B' then '@' || id end,
    case rail when 'PSE' then 'Bancolombia' end, case rail when 'PSE' then 'INDIVIDUAL' end, caudal.now(), caudal.now(),
    caudal.now() + interval '1 hour', caudal.now()
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::interval[], $6::boolean[])
    as new (organization_id, id, amount, rail, settles_in, verified)`;

export async function openTestLedger(): Promise<TestLedger> {
  const database = await cloneDatabase();
  const caudal = await composeInProcess(settingsFor(database.ownerUrl));
  const newId = () => uuidv7(caudal.deps.clock.now(), caudal.deps.cell);
  const postTransfers = (transfers: readonly Transfer[]) =>
    caudal.deps.system.transaction('apply notices', (tx) => post(tx, transfers));
  return {
    database,
    caudal,
    newId,
    createOrganizations: async (count) =>
      (await caudal.newOrganizations(count)).map(({ organization }) => organization.id),
    insertConfirmed: async (payins) => {
      const rows = payins.map((payin) => ({
        rail: 'BRE_B' as const,
        settlesIn: '0',
        verified: true,
        ...payin,
        id: newId(),
      }));
      await database.query(INSERT, [
        rows.map((row) => row.organizationId),
        rows.map((row) => row.id),
        rows.map((row) => row.amount),
        rows.map((row) => row.rail),
        rows.map((row) => row.settlesIn),
        rows.map((row) => row.verified),
      ]);
      await postTransfers(
        rows.map(({ id, organizationId, amount, rail }) => ({
          id: newId(),
          organizationId,
          debit: CLEARING[rail],
          credit: 'pending',
          amount: cents(amount),
          cause: { kind: 'payment', id: `${rail}:${id}` },
          resourceId: id,
          createdBy: SYSTEM,
        })),
      );
      return rows.map((row) => row.id);
    },
    post: (...transfers) =>
      postTransfers(
        transfers.map((transfer) => ({
          ...transfer,
          id: newId(),
          amount: cents(transfer.amount),
          createdBy: SYSTEM,
        })),
      ),
    waitForLockWaiter: async () => {
      await until('a session waits for a lock', async () => {
        const waiting = await database.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waiting.length > 0;
      });
    },
    readAmounts: async (organizationId) => {
      const { amounts } = await caudal.deps.system.transaction('read', (tx) =>
        readBalances(tx, organizationId),
      );
      return [amounts.pending, amounts.available, amounts.held].map((amount: Cents) => Number(amount));
    },
    close: async () => {
      await caudal.close();
      await database.drop();
    },
  };
}
