import { afterAll, describe, expect, it } from 'vitest';
import { LINK_BUGS } from '../src/planted/link-bugs.ts';
import { PatchedServer } from '../src/planted/patched-server.ts';
import { PLANTED_BUGS } from '../src/planted/planted-bugs.ts';
import { WEBHOOK_BUGS } from '../src/planted/webhook-bugs.ts';

const server = new PatchedServer();
afterAll(() => server.remove());

/** Detects server changes that break a patch without the minutes that `npm run chaos -- --planted` takes. */
describe('planted bug patches apply to the current server', () => {
  it.each([...PLANTED_BUGS, ...WEBHOOK_BUGS, ...LINK_BUGS].map((bug) => [bug.name, bug] as const))(
    '%s',
    (_name, { patches }) => {
      try {
        expect(() => server.apply(patches)).not.toThrow();
      } finally {
        server.revert(patches);
      }
    },
  );

  it('rejects a patch whose text is missing', () => {
    const patch = { file: 'main.ts', find: 'text that does not exist', replace: '' };
    expect(() => server.apply([patch])).toThrow('expected exactly one occurrence, found 0');
  });
});
