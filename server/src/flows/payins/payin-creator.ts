import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer } from '../../customers/customer.ts';
import { isDatabaseError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import type { Batcher } from '../../kit/batch/batcher.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { ApiError } from '../../kit/errors.ts';
import { freshToken, uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import type { Principal } from '../../organizations/organization.ts';
import { mintBrebKey } from '../../payins/breb-key.ts';
import { asCreated, type Payin, type PayinSource } from '../../payins/payin.ts';
import { creationBatcher } from '../shared/creation-batcher.ts';
import {
  databaseRefusal,
  faultOf,
  type Idempotency,
  idempotencyReservation,
} from '../shared/creation-request.ts';
import { UnknownCommitLeases } from '../shared/release-leases-of-unknown-commits.ts';
import { type CreatedPayin, type CreatePayin, createPayins } from './create-payins.ts';
import type { PseOpener } from './open-pse-payins.ts';
import { readPayin } from './read-payins.ts';
import { BANK_PAGE_WITHIN_MS, type CollectionStarter, within } from './start-collection.ts';

/** A valid request to create a payin. */
export interface PayinRequest {
  readonly amountInCents: number;
  readonly reference: string;
  readonly inlineCustomer?: Customer | undefined;
  readonly callbackUrl: string | null;
  readonly rail:
    | { readonly name: 'BRE_B'; readonly keyType: 'SINGLE_USE' | 'QR_CODE' }
    | { readonly name: 'PSE'; readonly bank: string; readonly personType: 'INDIVIDUAL' | 'BUSINESS' };
}

/** Idempotency keys are remembered per operation. */
const OPERATION = 'payins.create';
/** Two keys alike within ten minutes: one in a quadrillion pairs. Three tries are plenty. */
const MINTING_TRIES = 3;

/** Creates payins for merchants: one batcher for all of them, and what follows a commit at once. */
export class PayinCreator {
  readonly #deps: Deps;
  readonly #pse: PseOpener;
  readonly #collecting: CollectionStarter;
  readonly #batcher: Batcher<CreatePayin, CreatedPayin>;
  readonly #uncertain: UnknownCommitLeases;

  constructor(deps: Deps, pse: PseOpener, collecting: CollectionStarter) {
    this.#deps = deps;
    this.#pse = pse;
    this.#collecting = collecting;
    this.#uncertain = new UnknownCommitLeases(deps);
    const sizes = deps.metrics.histogram(
      'caudal_payin_batch_size',
      'Creations that shared a commit.',
      [1, 2, 4, 8, 16, 32, 64, 128],
    );
    const seconds = deps.metrics.histogram(
      'caudal_payin_batch_seconds',
      'Time of one batch, commit included.',
    );
    const waits = deps.metrics.histogram(
      'caudal_payin_queue_seconds',
      'How long the oldest creation of a batch had waited for it.',
    );
    this.#batcher = creationBatcher(deps, {
      run: (commands, patient) => createPayins(deps, commands, patient),
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
   * @throws Fault `organization_suspended`, `rail_not_enabled`, `reference_taken`, `idempotency_mismatch`, `idempotency_in_flight`, `overloaded`,
   *   `outcome_unknown`, `service_unavailable`
   * @param committed called when the database has answered: what follows may wait for a bank
   */
  async create(
    principal: Principal,
    request: PayinRequest,
    idempotency: Idempotency | null,
    committed: () => void = () => {},
  ): Promise<{ payin: Payin; replayed: boolean }> {
    const command = this.#command(principal, request, idempotency);
    const answer = await this.#submit(command);
    committed();
    switch (answer.kind) {
      case 'created':
        return {
          payin: await this.#collecting.begin({ ...command, payin: answer.resource }),
          replayed: false,
        };
      case 'replayed':
        return { payin: asCreated(await this.#withPage(principal, answer.resource)), replayed: true };
      default:
        throw faultOf(answer);
    }
  }

  async close(): Promise<void> {
    await this.#batcher.close();
    this.#uncertain.close();
  }

  #command(
    { organization, secrets }: Principal,
    request: PayinRequest,
    idempotency: Idempotency | null,
  ): CreatePayin {
    const now = this.#deps.clock.now();
    return {
      id: uuidv7(now, this.#deps.cell),
      leaseToken: freshToken(),
      organization,
      secrets,
      idempotency: idempotencyReservation(secrets, OPERATION, idempotency),
      amount: cents(request.amountInCents),
      reference: request.reference,
      customer: request.inlineCustomer ?? null,
      callbackUrl: request.callbackUrl,
      source: this.#source(request, now),
    };
  }

  #source({ rail }: PayinRequest, now: number): PayinSource {
    if (rail.name === 'PSE') return { rail: 'PSE', bank: rail.bank, personType: rail.personType, page: null };
    return {
      rail: 'BRE_B',
      keyType: rail.keyType,
      key: mintBrebKey(this.#deps.brebKeyPrefix, this.#deps.cell, now),
    };
  }

  async #submit(command: CreatePayin, triesLeft = MINTING_TRIES): Promise<CreatedPayin> {
    try {
      return await this.#batcher.submit(command);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'outcome_unknown') this.#uncertain.add(command);
      if (!isDatabaseError(error)) throw error;
      if (error.constraint === 'breb_key_once' && triesLeft > 1 && command.source.rail === 'BRE_B') {
        const key = mintBrebKey(this.#deps.brebKeyPrefix, this.#deps.cell, this.#deps.clock.now());
        return await this.#submit({ ...command, source: { ...command.source, key } }, triesLeft - 1);
      }
      throw await databaseRefusal(this.#deps, command, error);
    }
  }

  /** A repeat of a PSE payin still without its page waits for it as the first request does. */
  async #withPage(principal: Principal, payin: Payin): Promise<Payin> {
    if (
      payin.source.rail !== 'PSE' ||
      payin.source.page !== null ||
      payin.status !== 'PENDING' ||
      payin.customer === null
    )
      return payin;
    const until = monotonicMs() + BANK_PAGE_WITHIN_MS;
    const underWay = this.#pse.underWay(payin.id);
    if (underWay) await within(underWay, BANK_PAGE_WITHIN_MS);
    let now = await readPayin(this.#deps, principal, payin.id);
    // Another process may be at it.
    while (now.status === 'PENDING' && this.#pse.allowance !== 'none' && monotonicMs() < until) {
      await sleep(100);
      now = await readPayin(this.#deps, principal, payin.id);
    }
    return now;
  }
}
