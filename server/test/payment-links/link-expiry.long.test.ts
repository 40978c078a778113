import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExpiringLinks, expiredOnce } from './expiring-links.ts';

const LINKS = 10_000;
/** Five seconds on an idle machine, where the creation takes 0.7 s. A ratio, because other tests use the same cores. */
const MAX_RATIO = 7;

let links: ExpiringLinks;
beforeAll(async () => {
  links = await ExpiringLinks.open();
});
afterAll(() => links?.close());

it('ten thousand links that expire in the same second are all EXPIRED by one worker within seven times the time of their creation, each with exactly one event', async () => {
  const { creationMs, expiryMs, counts } = await links.expire(LINKS);
  expect(counts).toEqual(expiredOnce(LINKS));
  process.stdout.write(`${LINKS} links created in ${creationMs} ms, expired in ${expiryMs} ms\n`);
  expect(expiryMs / creationMs).toBeLessThan(MAX_RATIO);
});
