import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';

const NEW_PEPPER = 'the-new-pepper-of-this-test-in-40-letters';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

it('lists the API keys that would stop working without the previous pepper', async () => {
  const old = settingsFor(database.ownerUrl);
  const before = await composeInProcess(old);
  const [used, unused, unknown] = [
    await before.newOrganization(),
    await before.newOrganization(),
    await before.newOrganization(),
  ];
  await before.close();
  await database.query('update caudal.api_keys set pepper_id = null where id = $1', [
    unknown.principal.keyId,
  ]);

  const rotating = {
    ...old,
    CAUDAL_KEY_PEPPER: NEW_PEPPER,
    CAUDAL_KEY_PEPPER_PREVIOUS: old['CAUDAL_KEY_PEPPER'] ?? '',
  };
  const after = await composeInProcess(rotating);
  await after.authenticate(used.apiKey);
  await after.close();

  const { stdout } = await runOperatorCommand(rotating, 'secrets', 'status', '--json');
  const { apiKeys } = JSON.parse(stdout) as { apiKeys: { id: string; pepper: string; name: string }[] };
  expect(apiKeys.map(({ id, pepper, name }) => ({ id, pepper, name }))).toEqual(
    expect.arrayContaining([
      { id: unused.principal.keyId, pepper: 'previous', name: 'first key' },
      { id: unknown.principal.keyId, pepper: 'unknown', name: 'first key' },
    ]),
  );
  expect(apiKeys.map(({ id }) => id)).not.toContain(used.principal.keyId);
  const { stdout: text } = await runOperatorCommand(rotating, 'secrets', 'status');
  expect(text).toContain(`${unused.principal.keyId}  first key`);
  expect(text).toContain('stops working without CAUDAL_KEY_PEPPER_PREVIOUS');
});
