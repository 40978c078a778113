import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import type { Batcher } from '../../kit/batch/batcher.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { deadline } from '../../kit/deadline.ts';
import { ApiError } from '../../kit/errors.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';
import { newSource } from '../../payins/breb-key.ts';
import { asCreated, type Payin, type PayinMethod } from '../../payins/payin.ts';
import { creationBatcher } from '../shared/creation-batcher.ts';
import { type Idempotency, toCreationError, toDatabaseRejection } from '../shared/creation-request.ts';
import { newCreation, type RequestOf } from '../shared/creator.ts';
import { type CreatedPayin, type CreatePayin, createPayins } from './create-payins.ts';
import type { PseOpener } from './open-pse-payins.ts';
import { readPayin } from './read-payins.ts';
import { UnknownCommitLeases } from './release-leases-of-unknown-commits.ts';
import { BANK_PAGE_WITHIN_MS, type CollectionStarter, within } from './start-collection.ts';

/** A valid request to create a payin. */
export interface PayinRequest extends Omit<RequestOf<CreatePayin>, 'leaseToken' | 'source'> {
  readonly method: PayinMethod;
}

/** Scope of the idempotency keys. */
const OPERATION = 'payins.create';
/** Two Bre-B keys collide within ten minutes for one in a quadrillion pairs, so three attempts suffice. */
const MAX_KEY_ATTEMPTS = 3;

/** Creates payins for merchants in batches, and starts their collection after the commit. */
export class PayinCreator {
  readonly #deps: Deps;
  readonly #pse: PseOpener;
  readonly #collectionStarter: CollectionStarter;
  readonly #batcher: Batcher<CreatePayin, CreatedPayin>;
  readonly #unknownCommits: UnknownCommitLeases;

  constructor(deps: Deps, pse: PseOpener, collectionStarter: CollectionStarter) {
    this.#deps = deps;
    this.#pse = pse;
    this.#collectionStarter = collectionStarter;
    this.#unknownCommits = new UnknownCommitLeases(deps);
    const sizes = deps.metrics.histogram(
      'caudal_payin_batch_size',
      'Creations per commit.',
      [1, 2, 4, 8, 16, 32, 64, 128],
    );
    const seconds = deps.metrics.histogram(
      'caudal_payin_batch_seconds',
      'Duration of one batch, including the commit.',
    );
    const waits = deps.metrics.histogram(
      'caudal_payin_queue_seconds',
      'Queue time of the oldest creation in a batch.',
    );
    this.#batcher = creationBatcher(deps, {
      run: (commands, waitForLocks) => createPayins(deps, commands, waitForLocks),
      lanes: deps.batchLanes,
      observe: (batch) => {
        waits.observe(batch.waitedSeconds);
        sizes.observe(batch.size);
        seconds.observe(batch.seconds, { verdict: batch.verdict });
      },
      gauge: 'caudal_payin_queue',
      about: 'Creations waiting for a batch.',
    });
  }

  /**
   * @param onCommitted called when the database has answered; the rest of the call may wait for a bank
   * @throws ApiError `organization_suspended`, `rail_not_enabled`, `reference_taken`, `idempotency_mismatch`,
   *   `idempotency_in_flight`, `overloaded`, `outcome_unknown`, `service_unavailable`
   */
  async create(
    principal: Principal,
    request: PayinRequest,
    idempotency: Idempotency | null,
    onCommitted: () => void = () => {},
  ): Promise<{ payin: Payin; replayed: boolean }> {
    const command = this.#toCommand(principal, request, idempotency);
    const answer = await this.#submit(command);
    onCommitted();
    switch (answer.kind) {
      case 'created':
        return {
          payin: await this.#collectionStarter.start({ ...command, payin: answer.resource }),
          replayed: false,
        };
      case 'replayed':
        return { payin: asCreated(await this.#withPage(principal, answer.resource)), replayed: true };
      default:
        throw toCreationError(answer);
    }
  }

  async close(): Promise<void> {
    await this.#batcher.close();
    this.#unknownCommits.close();
  }

  #toCommand(
    principal: Principal,
    { method, ...request }: PayinRequest,
    idempotency: Idempotency | null,
  ): CreatePayin {
    return {
      ...request,
      ...newCreation(this.#deps, principal, OPERATION, idempotency),
      leaseToken: newLeaseToken(),
      source: newSource(this.#deps, method),
    };
  }

  async #submit(command: CreatePayin, attemptsLeft = MAX_KEY_ATTEMPTS): Promise<CreatedPayin> {
    try {
      return await this.#batcher.submit(command);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'outcome_unknown') this.#unknownCommits.add(command);
      if (!isDatabaseError(error)) throw error;
      if (error.constraint === 'breb_key_once' && attemptsLeft > 1 && command.source.rail === 'BRE_B') {
        const source = newSource(this.#deps, command.source);
        return await this.#submit({ ...command, source }, attemptsLeft - 1);
      }
      throw await toDatabaseRejection(this.#deps, command, error);
    }
  }

  /** A replay of a PSE payin without its bank page waits for the page like the first request. */
  async #withPage(principal: Principal, payin: Payin): Promise<Payin> {
    if (
      payin.source.rail !== 'PSE' ||
      payin.source.page !== null ||
      payin.status !== 'PENDING' ||
      payin.customer === null
    )
      return payin;
    const until = monotonicMs() + deadline(BANK_PAGE_WITHIN_MS);
    const inFlight = this.#pse.inFlight(payin.id);
    if (inFlight) await within(inFlight, deadline(BANK_PAGE_WITHIN_MS));
    let current = await readPayin(this.#deps, principal, payin.id);
    // Another process may be requesting the page.
    while (current.status === 'PENDING' && this.#pse.allowance !== 'none' && monotonicMs() < until) {
      await sleep(100);
      current = await readPayin(this.#deps, principal, payin.id);
    }
    return current;
  }
}
