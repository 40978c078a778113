import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExpiringLinks, expiredOnce } from './expiring-links.ts';

let links: ExpiringLinks;
beforeAll(async () => {
  links = await ExpiringLinks.open();
});
afterAll(() => links?.close());

it('500 links that expire in the same second are all EXPIRED by one worker, each with exactly one event', async () => {
  const { counts } = await links.expire(500);
  expect(counts).toEqual(expiredOnce(500));
});
