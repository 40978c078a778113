import { expect, it } from 'vitest';
import { LookupBudget, type LookupClass } from '../../src/organizations/lookup-budget.ts';

/** Starts lookups that do not end, and counts those that were admitted. */
async function admitted(budget: LookupBudget, lookupClass: LookupClass): Promise<number> {
  let count = 0;
  const lookups = Array.from({ length: 200 }, () =>
    budget.run(lookupClass, () => {
      count += 1;
      return new Promise<never>(() => undefined);
    }),
  );
  const rejected = await Promise.race(lookups.map((lookup) => lookup.catch((error: unknown) => error)));
  expect(rejected).toMatchObject({ code: 'overloaded' });
  return count;
}

it('gives made-up credentials few lookups and takes none from merchants, also at a suspect address', async () => {
  const budget = new LookupBudget();
  expect(await admitted(budget, 'untagged')).toBe(8);
  expect(await admitted(budget, 'suspect')).toBe(64);
  expect(await admitted(budget, 'trusted')).toBe(64);
});
