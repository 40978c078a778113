import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { rewrapDataKeys } from '../../src/flows/operations/rewrap-data-keys.system.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, settingsFor } from '../harness/in-process.ts';

const TOKEN = 'a-token-for-the-key-service-of-this-test';

let database: TestDatabase;
let kms: ChildProcess;
let kmsSettings: Record<string, string>;
beforeAll(async () => {
  database = await cloneDatabase();
  const program = new URL('../harness/kms-program.ts', import.meta.url).pathname;
  kms = spawn(process.execPath, [program, TOKEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(kms.stdout ?? process.stdin, 'data')) as [Buffer];
  kmsSettings = {
    CAUDAL_KMS_URL: `http://127.0.0.1:${port.toString().trim()}`,
    CAUDAL_KMS_KEY_ID: 'caudal-1',
    CAUDAL_KMS_TOKEN: TOKEN,
  };
});
afterAll(async () => {
  kms?.kill();
  await database?.drop();
});

it('a key management service takes over from the master key, which is then not needed', async () => {
  const local = settingsFor(database.ownerUrl);
  const before = await composeInProcess(local);
  const { principal, apiKey } = await before.newOrganization();
  const encrypted = principal.secrets.dataKey.encrypt('personal data', 'row');
  await before.close();

  const both = await composeInProcess({ ...local, ...kmsSettings });
  expect(await rewrapDataKeys(both.deps, 'test')).toBeGreaterThanOrEqual(4);
  await both.close();
  const wrappedBy = await database.query(
    `select distinct master_key_id from caudal.organization_keys
     union select master_key_id from caudal.organization_hash_keys`,
  );
  expect(wrappedBy).toEqual([{ master_key_id: 'kms:caudal-1' }]);

  const { readUrl, batchUrl, systemUrl } = readConfig('api', local).database;
  const urls = { DATABASE_READ_URL: readUrl, DATABASE_BATCH_URL: batchUrl, DATABASE_SYSTEM_URL: systemUrl };
  // Empty is unset.
  const withoutMasterKey = { ...local, ...urls, ...kmsSettings, CAUDAL_MASTER_KEY: '' };
  const after = await composeInProcess(withoutMasterKey);
  const { secrets } = await after.authenticate(apiKey);
  expect(secrets.dataKey.decrypt(encrypted, 'row').toString()).toBe('personal data');
  expect(secrets.hashKey.equals(principal.secrets.hashKey)).toBe(true);
  const { principal: created } = await after.newOrganization();

  kms.kill();
  await once(kms, 'exit');
  // Loaded keys still work; keys that are not loaded do not.
  expect(secrets.dataKey.decrypt(secrets.dataKey.encrypt('x', 'row'), 'row').toString()).toBe('x');
  await after.close();
  const without = await composeInProcess(withoutMasterKey);
  const getSecrets = await without.keys.load(new Set([created.organization.id]));
  expect(() => getSecrets(created.organization.id)).toThrow('failed to decrypt the data key');
  await without.close();
});
