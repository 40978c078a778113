import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Batcher } from '../../kit/batch/batcher.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import type { Principal } from '../../organizations/organization.ts';
import { asCreated, type Payout } from '../../payouts/payout.ts';
import { creationBatcher, submitCreation } from '../shared/creation-batcher.ts';
import { type Idempotency, idempotencyReservation, toCreationError } from '../shared/creation-request.ts';
import { type CreatedPayout, type CreatePayout, createPayouts } from './create-payouts.ts';

/** A valid request to create a payout. */
export interface PayoutRequest {
  readonly amountInCents: number;
  readonly reference: string;
  readonly inlineCustomer: Customer;
  /** The receiver's Bre-B key, normalized. */
  readonly brebKey: string;
  readonly lookupId: string | null;
}

/** Idempotency keys are scoped to an operation. */
const OPERATION = 'payouts.create';

/**
 * Creates payouts for merchants through one shared batcher. It sends no orders: workers lease due payouts from the
 * database.
 */
export class PayoutCreator {
  readonly #deps: Deps;
  readonly #batcher: Batcher<CreatePayout, CreatedPayout>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#batcher = creationBatcher(deps, {
      run: (commands, waitForLocks) => createPayouts(deps, commands, waitForLocks),
      lanes: deps.batchLanes,
      gauge: 'caudal_payout_queue',
      about: 'Payouts waiting for a batch.',
    });
  }

  /**
   * @throws ApiError `organization_suspended`, `rail_not_enabled`, `lookup_invalid`, `reference_taken`, `idempotency_mismatch`,
   *   `idempotency_in_flight`, `overloaded`, `outcome_unknown`, `service_unavailable`
   */
  async create(
    principal: Principal,
    request: PayoutRequest,
    idempotency: Idempotency | null,
  ): Promise<{ payout: Payout; replayed: boolean }> {
    const answer = await submitCreation(
      this.#deps,
      this.#batcher,
      this.#command(principal, request, idempotency),
    );
    if (answer.kind === 'created') return { payout: answer.resource, replayed: false };
    if (answer.kind === 'replayed') return { payout: asCreated(answer.resource), replayed: true };
    throw toCreationError(answer);
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }

  #command(
    { organization, secrets }: Principal,
    { amountInCents, reference, inlineCustomer, brebKey, lookupId }: PayoutRequest,
    idempotency: Idempotency | null,
  ): CreatePayout {
    return {
      id: uuidv7(this.#deps.clock.now(), this.#deps.cell),
      organization,
      secrets,
      idempotency: idempotencyReservation(secrets, OPERATION, idempotency),
      amount: cents(amountInCents),
      reference,
      customer: inlineCustomer,
      brebKey,
      lookupId,
    };
  }
}
