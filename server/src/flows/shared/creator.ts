import type { Deps } from '../../deps.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import type { Batcher } from '../../kit/batch/batcher.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { activeTrace } from '../../kit/trace-context.ts';
import type { Principal } from '../../organizations/organization.ts';
import type { Created, Creation } from './create-once.ts';
import { type CreationBatch, creationBatcher, submitCreation } from './creation-batcher.ts';
import { type Idempotency, idempotencyReservation, toCreationError } from './creation-request.ts';

/** The fields of a command that come from the request; the rest comes from the caller's credential. */
export type RequestOf<Command extends Creation> = Omit<Command, keyof Creation> & Pick<Creation, 'reference'>;

interface Options<Command extends Creation, Resource> extends CreationBatch<Command, Created<Resource>> {
  /** Scope of the idempotency keys. */
  readonly operation: string;
  /** The resource as its creation returned it, for replays. */
  readonly asCreated: (resource: Resource) => Resource;
}

/** Creates resources of one kind for all merchants, in batches. */
export class Creator<Command extends Creation, Resource> {
  readonly #deps: Deps;
  readonly #options: Options<Command, Resource>;
  readonly #batcher: Batcher<Command, Created<Resource>>;

  constructor(deps: Deps, options: Options<Command, Resource>) {
    this.#deps = deps;
    this.#options = options;
    this.#batcher = creationBatcher(deps, options);
  }

  /**
   * @throws ApiError `organization_suspended`, `rail_not_enabled`, `lookup_invalid`, `too_many_lookups`, `reference_taken`,
   *   `idempotency_mismatch`, `idempotency_in_flight`, `overloaded`, `outcome_unknown`, `service_unavailable`
   */
  async create(
    principal: Principal,
    request: RequestOf<Command>,
    idempotency: Idempotency | null,
  ): Promise<{ resource: Resource; replayed: boolean }> {
    const { operation, asCreated } = this.#options;
    const command = {
      ...request,
      ...newCreation(this.#deps, principal, operation, idempotency),
    } as unknown as Command;
    const answer = await submitCreation(this.#deps, this.#batcher, command);
    if (answer.kind === 'created') return { resource: answer.resource, replayed: false };
    if (answer.kind === 'replayed') return { resource: asCreated(answer.resource), replayed: true };
    throw toCreationError(answer);
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }
}

/** The fields of a command that do not come from the request. */
export function newCreation(
  { clock, cell }: Pick<Deps, 'clock' | 'cell'>,
  { organization, keyId, secrets }: Principal,
  operation: string,
  idempotency: Idempotency | null,
): Omit<Creation, 'reference'> {
  const context = activeTrace();
  return {
    id: uuidv7(clock.now(), cell),
    organization,
    apiKeyId: keyId,
    secrets,
    createdBy: apiKeyActor(keyId),
    idempotency: idempotencyReservation(secrets, operation, idempotency),
    trace: context && { context, sinceMs: monotonicMs() },
  };
}
