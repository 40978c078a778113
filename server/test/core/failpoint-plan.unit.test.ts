import { expect, it } from 'vitest';
import { EXECUTORS, findExecutor } from '../../../chaos/src/failpoints/plan.ts';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { makeLog } from '../../src/kit/log.ts';
import { failpointsList } from '../../src/operator/failpoints.ts';
import { settingsFor } from '../harness/in-process.ts';

const NO_DATABASE = 'postgres://nobody:none@127.0.0.1:1/none';

/** Detects a transaction or rail call that the plan misses, without the minutes that `npm run chaos -- --failpoints` takes. */
it('the plan of the failpoint runs says for each failpoint what executes it, and names no other', async () => {
  const { deps, close } = compose(
    readConfig('api', settingsFor(NO_DATABASE)),
    makeLog({ level: 'silent', base: {} }),
  );
  const { json } = await failpointsList(deps);
  await close();
  const names = json as string[];
  expect(names.filter((name) => findExecutor(name) === null)).toEqual([]);
  const operations = new Set(names.map((name) => name.split(':')[0]));
  expect(Object.keys(EXECUTORS).filter((name) => !operations.has(name))).toEqual([]);
});
