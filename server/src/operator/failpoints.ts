import { commitFailpoints, TRANSACTIONS } from '../db/transactions.ts';
import type { SystemDeps } from '../deps.ts';
import { payoutFailpoints, railFailpoints } from '../rails/with-failpoints.ts';
import type { Output } from './options.ts';

/** Lists every value of CAUDAL_FAILPOINT, at which a process kills itself. For crash tests. */
export function failpointsList(deps: SystemDeps): Promise<Output> {
  const writing = TRANSACTIONS.filter((name) => name !== 'read');
  const names = [
    ...writing.flatMap((name) => Object.values(commitFailpoints(name))),
    ...Object.values(deps.rails).flatMap((rail) => railFailpoints(rail)),
    ...payoutFailpoints(deps.payoutRail),
  ];
  return Promise.resolve({ json: names, text: names.join('\n') });
}
