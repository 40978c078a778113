import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  claimIdempotencyKeys,
  purgeIdempotencyKeys,
  releaseIdempotencyKeys,
} from '../../src/claims/idempotency.store.ts';
import { claimReferences } from '../../src/claims/reference.store.ts';
import { sessionOptions } from '../../src/db/pool.ts';
import type { Statement, Tx } from '../../src/db/tx.ts';
import { cents } from '../../src/kit/money.ts';
import { readPulse, touchKeys } from '../../src/organizations/credential.store.ts';
import { claimDueKeys, recordRegistrations, waitingKeys } from '../../src/payins/breb-key.store.ts';
import { findPayin, findPayins, insertPayins } from '../../src/payins/payin.store.ts';
import { releaseClaims } from '../../src/payins/payin-claim.store.ts';
import { listPayins } from '../../src/payins/payin-list.store.ts';
import { declinePayins } from '../../src/payins/payin-outcome.store.ts';
import { claimDuePsePayins, recordPages } from '../../src/payins/pse-payin.store.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const HASH = Buffer.alloc(16);
const KEY = '@CDL01301KR96NVZ4KX8';
/** Tables that grow with every payin; one line may tell of a month's partition. */
const GROWING =
  /(?:payins|payin_history|breb_keys|idempotency_keys|resource_references|api_keys)(?:_\d{6})?\b/;

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await cloneDatabase();
  client = new Client({ connectionString: database.url, options: sessionOptions(5000) });
  await client.connect();
  // What a prepared statement ends up with after a few uses, here on tables that have never held a row.
  await client.query('set plan_cache_mode = force_generic_plan');
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** Stands in for a transaction: keeps the statement it is given instead of running it. */
async function statementOf(use: (tx: Tx) => Promise<unknown>): Promise<Statement & { values: number }> {
  let kept: (Statement & { values: number }) | undefined;
  const recorder = {
    query: (statement: Statement, values: readonly unknown[] = []) => {
      kept = { ...statement, values: values.length };
      return Promise.resolve([]);
    },
  } as unknown as Tx;
  await use(recorder).catch(() => undefined);
  if (!kept) throw new Error('no statement was used');
  return kept;
}

async function planOf(use: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const { text, values } = await statementOf(use);
  await client.query(`prepare planned as ${text}`);
  try {
    const nulls = Array.from({ length: values }, () => 'null').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute planned${values > 0 ? `(${nulls})` : ''}`,
    );
    return rows.map((row) => row['QUERY PLAN']);
  } finally {
    await client.query('deallocate planned');
  }
}

const PAYIN = { organizationId: ID, id: ID };
const CLAIM = { organizationId: ID, keyHash: HASH, bodyHash: HASH, resourceId: ID };
const POSITION = { direction: 'older', id: ID } as const;

describe('the plan of each statement on the path of payins, made when all tables are empty', () => {
  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['claim idempotency keys', (tx) => claimIdempotencyKeys(tx, [CLAIM])],
    ['release idempotency keys', (tx) => releaseIdempotencyKeys(tx, [CLAIM])],
    ['purge idempotency keys', (tx) => purgeIdempotencyKeys(tx)],
    [
      'claim references',
      (tx) => claimReferences(tx, 'payin', [{ organizationId: ID, reference: 'r', resourceId: ID }]),
    ],
    [
      'insert payins',
      (tx) =>
        insertPayins(tx, [
          {
            ...PAYIN,
            claimToken: ID,
            amount: cents(1),
            status: 'PROCESSING',
            reference: 'r',
            sealedCustomer: null,
            callbackUrl: null,
            source: { rail: 'BRE_B', keyType: 'SINGLE_USE', key: KEY },
            railDue: false,
          },
        ]),
    ],
    ['find payins', (tx) => findPayins(tx, [PAYIN])],
    ['find a payin', (tx) => findPayin(tx, ID, ID)],
    ['list payins', (tx) => listPayins(tx, ID, {}, null, 11)],
    ['list payins from a cursor', (tx) => listPayins(tx, ID, {}, POSITION, 11)],
    ['list payins of a link', (tx) => listPayins(tx, ID, { paymentLinkId: ID }, null, 11)],
    ['list by reference', (tx) => listPayins(tx, ID, { reference: 'r' }, null, 11)],
    ['claim due keys', (tx) => claimDueKeys(tx, ID, 500)],
    [
      'record registrations',
      (tx) => recordRegistrations(tx, [{ key: KEY, claimToken: ID, refusal: null, retryAfterMs: null }]),
    ],
    ['count waiting keys', (tx) => waitingKeys(tx)],
    ['release claims', (tx) => releaseClaims(tx, [{ ...PAYIN, claimToken: ID, key: KEY }])],
    ['claim due PSE payins', (tx) => claimDuePsePayins(tx, ID, 32)],
    [
      'record bank pages',
      (tx) => recordPages(tx, [{ ...PAYIN, claimToken: ID, kind: 'unknown', retryAfterMs: 1 }]),
    ],
    ['decline payins', (tx) => declinePayins(tx, [{ ...PAYIN, errorCode: 'RAIL_REJECTED' }])],
    ['note the use of keys', (tx) => touchKeys(tx, new Map([['x', null]]))],
    ['the pulse', (tx) => readPulse(tx)],
  ])('reads no growing table whole: %s', async (_name, use) => {
    const plan = await planOf(use);
    expect(plan.filter((line) => line.includes('Seq Scan') && GROWING.test(line))).toEqual([]);
    // A payin is found by organization and id together; by the organization alone it would be all of its payins.
    const lists = /list/.test(_name);
    const wide = plan.filter((line) => /Index Cond: \(organization_id = [\w.$]+\)$/.test(line.trim()));
    expect(lists ? [] : wide).toEqual([]);
  });
});
