import { isDatabaseError, verdictOf } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import type { Creation } from './create-once.ts';
import { databaseRefusal } from './creation-request.ts';

const MOST_IN_A_BATCH = 500;
const MOST_WAITING = 4096;

type Options<Command, Answer> = ConstructorParameters<typeof Batcher<Command, Answer>>[0];

interface CreationBatch<Command, Answer> extends Pick<Options<Command, Answer>, 'run' | 'lanes' | 'observe'> {
  /** Of the gauge that tells how many wait. */
  readonly gauge: string;
  readonly about: string;
}

/** Gathers what merchants ask to be created into batches, an organization's in order. */
export function creationBatcher<Command extends Creation, Answer>(
  deps: Deps,
  { gauge, about, ...options }: CreationBatch<Command, Answer>,
): Batcher<Command, Answer> {
  const batcher = new Batcher<Command, Answer>({
    ...options,
    verdict: verdictOf,
    groupOf: (command) => command.organization.id,
    maxBatch: MOST_IN_A_BATCH,
    maxQueue: MOST_WAITING,
  });
  deps.metrics.gauge(gauge, about, () => batcher.waiting);
  return batcher;
}

/** @throws Fault also for what the database refuses of this command alone */
export async function submitCreation<Command extends Creation, Answer>(
  deps: Pick<Deps, 'batch'>,
  batcher: Batcher<Command, Answer>,
  command: Command,
): Promise<Answer> {
  try {
    return await batcher.submit(command);
  } catch (error) {
    throw isDatabaseError(error) ? await databaseRefusal(deps, command, error) : error;
  }
}
