import { commitFailpoints, TRANSACTIONS } from '../db/transactions.ts';
import type { SystemDeps } from '../deps.ts';
import { failpointsOf, payFailpointsOf } from '../rails/with-failpoints.ts';
import type { Output } from './options.ts';

/** For tests of what survives: every named place where CAUDAL_FAILPOINT can have a process die. */
export function failpointsList(deps: SystemDeps): Promise<Output> {
  const writing = TRANSACTIONS.filter((name) => name !== 'read');
  const names = [
    ...writing.flatMap((name) => Object.values(commitFailpoints(name))),
    ...Object.values(deps.rails).flatMap((rail) => failpointsOf(rail)),
    ...payFailpointsOf(deps.payoutRail),
  ];
  return Promise.resolve({ json: names, text: names.join('\n') });
}
