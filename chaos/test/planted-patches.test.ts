import { afterAll, describe, expect, it } from 'vitest';
import { LINK_BUGS } from '../src/planted/link-bugs.ts';
import { PatchedServer } from '../src/planted/patched-server.ts';
import { PLANTED_BUGS } from '../src/planted/planted-bugs.ts';
import { WEBHOOK_BUGS } from '../src/planted/webhook-bugs.ts';

const server = new PatchedServer();
afterAll(() => server.remove());

/** `npm run chaos -- --planted` would tell too, minutes later: whoever changes a text that a patch needs is told here. */
describe('every planted bug can be planted into the server as it is', () => {
  it.each([...PLANTED_BUGS, ...WEBHOOK_BUGS, ...LINK_BUGS].map((bug) => [bug.name, bug] as const))(
    '%s',
    (_name, { patches }) => {
      try {
        expect(() => server.plant(patches)).not.toThrow();
      } finally {
        server.weed(patches);
      }
    },
  );

  it('but not where its text is missing', () => {
    const patch = { file: 'main.ts', find: 'a text that no server has', replace: '' };
    expect(() => server.plant([patch])).toThrow('has 0 times, instead of once');
  });
});
