import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedOrganization } from '../../../scripts/stack/seed.ts';
import { settingsFor } from '../harness/in-process.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openTestLedger();
});
afterAll(async () => {
  await ledger?.close();
});

describe('the organization of a development stack', () => {
  it('starts with ten million pesos, and a restart adds nothing', async () => {
    const settings = settingsFor(ledger.database.ownerUrl);
    const { apiKey } = await seedOrganization(settings);
    await seedOrganization(settings);
    const { organization } = await ledger.caudal.authenticate(apiKey);
    expect(await ledger.readAmounts(organization.id)).toEqual([0, 1_000_000_000, 0]);
  });
});
