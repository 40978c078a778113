import { classifyFailure, isDatabaseError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import type { Creation } from './create-once.ts';
import { toDatabaseRejection } from './creation-request.ts';

const MAX_BATCH = 500;
const MAX_QUEUE = 4096;

type Options<Command, Answer> = ConstructorParameters<typeof Batcher<Command, Answer>>[0];

export interface CreationBatch<Command, Answer>
  extends Pick<Options<Command, Answer>, 'run' | 'lanes' | 'observe'> {
  /** Name of the gauge of queued commands. */
  readonly gauge: string;
  /** Help text of the gauge. */
  readonly about: string;
}

/** Collects creations into batches; the commands of one organization stay in order. */
export function creationBatcher<Command extends Creation, Answer>(
  deps: Deps,
  { gauge, about, ...options }: CreationBatch<Command, Answer>,
): Batcher<Command, Answer> {
  const batcher = new Batcher<Command, Answer>({
    ...options,
    verdict: classifyFailure,
    groupOf: (command) => command.organization.id,
    maxBatch: MAX_BATCH,
    maxQueue: MAX_QUEUE,
  });
  deps.metrics.gauge(gauge, about, () => batcher.waiting);
  return batcher;
}

/** @throws ApiError also when the database rejects this single command */
export async function submitCreation<Command extends Creation, Answer>(
  deps: Pick<Deps, 'batch'>,
  batcher: Batcher<Command, Answer>,
  command: Command,
): Promise<Answer> {
  try {
    return await batcher.submit(command);
  } catch (error) {
    throw isDatabaseError(error) ? await toDatabaseRejection(deps, command, error) : error;
  }
}
