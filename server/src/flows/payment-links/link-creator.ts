import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Batcher } from '../../kit/batch/batcher.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import type { Principal } from '../../organizations/organization.ts';
import { asCreated, type PaymentLink } from '../../payment-links/payment-link.ts';
import type { Rail } from '../../rails/contract.ts';
import { creationBatcher, submitCreation } from '../shared/creation-batcher.ts';
import { type Idempotency, idempotencyReservation, toCreationError } from '../shared/creation-request.ts';
import { type CreatedLink, type CreateLink, createLinks } from './create-links.ts';

/** A valid request to create a payment link. */
export interface LinkRequest {
  readonly amountInCents: number;
  readonly reference: string;
  readonly description: string | null;
  readonly callbackUrl: string;
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly inlineCustomer: Customer | null;
}

/** Idempotency keys are stored per operation. */
const OPERATION = 'payment-links.create';

/** Creates payment links; one batcher serves all merchants. */
export class LinkCreator {
  readonly #deps: Deps;
  readonly #batcher: Batcher<CreateLink, CreatedLink>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#batcher = creationBatcher(deps, {
      run: (commands, waitForLocks) => createLinks(deps, commands, waitForLocks),
      lanes: 1,
      gauge: 'caudal_link_queue',
      about: 'Links waiting for a batch.',
    });
  }

  /**
   * @throws ApiError `organization_suspended`, `rail_not_enabled`, `reference_taken`, `idempotency_mismatch`, `idempotency_in_flight`, `overloaded`,
   *   `outcome_unknown`, `service_unavailable`
   */
  async create(
    principal: Principal,
    request: LinkRequest,
    idempotency: Idempotency | null,
  ): Promise<{ link: PaymentLink; replayed: boolean }> {
    const result = await submitCreation(
      this.#deps,
      this.#batcher,
      this.#command(principal, request, idempotency),
    );
    if (result.kind === 'created') return { link: result.resource, replayed: false };
    if (result.kind === 'replayed') return { link: asCreated(result.resource), replayed: true };
    throw toCreationError(result);
  }

  close(): Promise<void> {
    return this.#batcher.close();
  }

  #command(
    { organization, secrets }: Principal,
    { amountInCents, inlineCustomer, ...rest }: LinkRequest,
    idempotency: Idempotency | null,
  ): CreateLink {
    return {
      ...rest,
      id: uuidv7(this.#deps.clock.now(), this.#deps.cell),
      organization,
      secrets,
      idempotency: idempotencyReservation(secrets, OPERATION, idempotency),
      amount: cents(amountInCents),
      customer: inlineCustomer,
    };
  }
}
