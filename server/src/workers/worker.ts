import type { SystemDeps } from '../deps.ts';
import { keepHouse } from '../flows/keep-house.ts';
import type { PseOpener } from '../flows/open-pse-payins.ts';
import type { KeyRegistrar } from '../flows/register-breb-keys.ts';
import { sweepPsePayins } from '../flows/sweep-pse-payins.ts';
import { watchWaitingKeys } from '../flows/watch-waiting-keys.ts';
import { Loop } from '../jobs/loop.ts';
import type { DataKeys } from '../organizations/data-keys.ts';

const DUE_EVERY_MS = 200;
const WATCH_EVERY_MS = 2000;
const HOUSE_EVERY_MS = 600_000;

interface WorkerParts {
  readonly registrar: KeyRegistrar;
  readonly pse: PseOpener;
  readonly keys: DataKeys;
}

/** Everything a worker process does, as loops over work that is due in the database. */
export function workerLoops(deps: SystemDeps, parts: WorkerParts): Loop[] {
  const once = (work: () => Promise<void>) => () => work().then(() => 0);
  return [
    new Loop({
      name: 'register keys',
      everyMs: DUE_EVERY_MS,
      log: deps.log,
      round: () => parts.registrar.sweep(),
    }),
    new Loop({
      name: 'open PSE payins',
      everyMs: DUE_EVERY_MS,
      log: deps.log,
      round: () => sweepPsePayins(deps, parts.pse, parts.keys),
    }),
    new Loop({
      name: 'watch waiting keys',
      everyMs: WATCH_EVERY_MS,
      log: deps.log,
      round: once(watchWaitingKeys(deps)),
    }),
    new Loop({
      name: 'keep house',
      everyMs: HOUSE_EVERY_MS,
      log: deps.log,
      round: () => keepHouse(deps),
    }),
  ];
}
