import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedOrganization } from '../../../scripts/stack/seed.ts';
import { settingsFor } from '../harness/in-process.ts';
import { type Books, openBooks } from './books.ts';

let books: Books;
beforeAll(async () => {
  books = await openBooks();
});
afterAll(async () => {
  await books?.close();
});

describe('the organization of a development stack', () => {
  it('starts with ten million pesos, and a restart adds nothing', async () => {
    const settings = settingsFor(books.database.ownerUrl);
    const { apiKey } = await seedOrganization(settings);
    await seedOrganization(settings);
    const { organization } = await books.caudal.principalOf(apiKey);
    expect(await books.amountsOf(organization.id)).toEqual([0, 1_000_000_000, 0]);
  });
});
