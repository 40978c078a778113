import { toWriteError } from '../../db/failures.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { FairQueue } from '../../kit/batch/fair-queue.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { Principal } from '../../organizations/organization.ts';
import { insertLookup } from '../../payouts/lookup.store.ts';
import { refundLookupTokens, takeLookupTokens } from '../../payouts/lookup-bucket.store.ts';
import { holderIndex, receiverIndex } from '../../payouts/receiver.encryption.ts';
import { readReceiverKey } from '../../payouts/receiver-key.ts';
import { maskName, maskNumber, matchDocument, matchName } from '../../payouts/receiver-view.ts';
import type { RailAnswer, RailErrorCode, ReceiverKeyType, Resolution } from '../../rails/contract.ts';
import { RailCaller } from '../shared/rail-caller.ts';

/** The holder that the caller expects. */
interface Expected {
  readonly name?: string | undefined;
  readonly documentNumber?: string | undefined;
}

type Match = { name?: 'FULL' | 'PARTIAL' | 'NONE'; documentNumber?: boolean };

export interface KeyLookup {
  readonly details: {
    readonly keyString: string;
    readonly keyType: ReceiverKeyType;
    readonly name: string;
    readonly documentType: string;
    readonly documentNumber: string;
    readonly bankName: string;
    readonly bankAccountNumber: string;
  };
  readonly lookupId: string;
  readonly expiresAt: Date;
  readonly match?: Match;
}

interface Waiting {
  readonly start: () => void;
  readonly reject: (error: ApiError) => void;
}

/** A lookup expires this long before its directory resolution, because the payout must reach the rail in time. */
const MARGIN_MS = 120_000;
/** More concurrent lookups would only wait for the process's database connections. */
const MAX_CONCURRENT = 16;
const MAX_WAITING = 1000;

/**
 * Looks up Bre-B keys for merchants. Lookups reveal people's phone and document data, so each costs a rate limit token
 * before the directory is queried. Without a token, or when the result cannot be stored, the lookup returns nothing. The
 * Bre-B key reaches no log, trace or metric.
 */
export class KeyLookups {
  readonly #deps: Deps;
  readonly #caller: RailCaller;
  readonly #results: Counter;
  readonly #waiting = new FairQueue<Waiting>(MAX_WAITING);
  #inFlight = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#caller = new RailCaller(deps, 'BRE_B', 32);
    this.#results = deps.metrics.counter('caudal_breb_lookups_total', 'Bre-B key lookups, by result.', {
      result: ['found', 'mismatch', 'missed', 'limited', 'unanswered'],
    });
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /**
   * @throws ApiError `breb_key_invalid`, `breb_key_not_found`, `breb_key_suspended`, `too_many_lookups`, `rail_unavailable`,
   *   `organization_suspended`, `rail_not_enabled`, `overloaded`, `service_unavailable`
   */
  async lookUp(principal: Principal, text: string, expected: Expected): Promise<KeyLookup> {
    if (principal.organization.suspended) throw new ApiError('organization_suspended');
    if (!principal.organization.rails.has('BRE_B')) throw new ApiError('rail_not_enabled');
    const receiverKey = readReceiverKey(text);
    if (!receiverKey) throw new ApiError('breb_key_invalid');
    await this.#acquireSlot(principal.organization.id);
    try {
      await this.#takeTokens(principal.organization.id);
      const [answer] = await this.#caller.call('resolve', [receiverKey.key], async (brebKeys) =>
        Promise.all(brebKeys.map((brebKey) => this.#deps.payoutRail.resolve(brebKey))),
      );
      return await this.#conclude(principal, receiverKey, answer, expected);
    } finally {
      this.#inFlight -= 1;
      this.#waiting.take(1)[0]?.start();
    }
  }

  /** Waits for a concurrency slot; the queue is fair between organizations. */
  async #acquireSlot(organizationId: string): Promise<void> {
    if (this.#inFlight >= MAX_CONCURRENT)
      await new Promise<void>((start, reject) => {
        const rejected = this.#waiting.push(organizationId, { start, reject });
        rejected?.reject(new ApiError('overloaded', { reason: 'lookup_queue_full' }));
      });
    this.#inFlight += 1;
  }

  async #takeTokens(organizationId: string): Promise<void> {
    const seconds = await this.#write('take lookup', organizationId, (tx) =>
      takeLookupTokens(tx, organizationId),
    );
    if (seconds === null) return;
    this.#results.add({ result: 'limited' });
    throw new ApiError('too_many_lookups', { retryAfterSeconds: seconds });
  }

  async #conclude(
    { organization, secrets, keyId }: Principal,
    { key, keyType }: { readonly key: string; readonly keyType: ReceiverKeyType },
    answer: RailAnswer<Resolution> | undefined,
    expected: Expected,
  ): Promise<KeyLookup> {
    const organizationId = organization.id;
    if (answer?.kind !== 'yes') throw await this.#rejection(organizationId, answer);
    const { value: holder } = answer;
    const match = matchHolder(expected, holder);
    const missed = match !== null && (match.name === 'NONE' || match.documentNumber === false);
    const lookupId = uuidv7(this.#deps.clock.now(), this.#deps.cell);
    const expiresAt = await this.#write('record lookup', organizationId, async (tx) => {
      if (!missed) await refundLookupTokens(tx, [{ organizationId, lookups: 0, misses: 1 }]);
      return insertLookup(tx, {
        organizationId,
        id: lookupId,
        receiverIndex: receiverIndex(secrets.hashKey, key),
        resolutionId: holder.resolutionId,
        holder: holderIndex(secrets.hashKey, holder),
        validForMs: this.#deps.payoutRail.capabilities.resolutionMs - MARGIN_MS,
        createdBy: apiKeyActor(keyId),
      });
    });
    this.#results.add({ result: missed ? 'mismatch' : 'found' });
    return {
      details: {
        keyString: key,
        keyType,
        name: maskName(holder.name),
        documentType: holder.documentType,
        documentNumber: maskNumber(holder.documentNumber),
        bankName: holder.bankName,
        bankAccountNumber: maskNumber(holder.accountNumber),
      },
      lookupId,
      expiresAt,
      ...(match === null ? {} : { match }),
    };
  }

  async #rejection(organizationId: string, answer: RailAnswer<Resolution> | undefined): Promise<ApiError> {
    if (answer?.kind !== 'no') {
      // The caller learned nothing, so it is no miss. The lookup token stays spent: queries load the directory.
      await this.#write('record lookup', organizationId, (tx) =>
        refundLookupTokens(tx, [{ organizationId, lookups: 0, misses: 1 }]),
      );
      this.#results.add({ result: 'unanswered' });
      return new ApiError('rail_unavailable');
    }
    this.#results.add({ result: 'missed' });
    return new ApiError(API_ERRORS[answer.errorCode] ?? 'breb_key_not_found');
  }

  #write<T>(
    name: 'take lookup' | 'record lookup',
    organizationId: string,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    return this.#deps.batch.write(name, new Set([organizationId]), work).catch((error: unknown) => {
      const failure = toWriteError(error);
      // Whether a token was taken is no outcome of the caller's request, so a plain retry is safe.
      throw failure instanceof ApiError && failure.code === 'outcome_unknown'
        ? new ApiError('service_unavailable', { cause: error, reason: 'commit_outcome_unknown' })
        : failure;
    });
  }
}

const API_ERRORS: Partial<
  Record<RailErrorCode, 'breb_key_invalid' | 'breb_key_not_found' | 'breb_key_suspended'>
> = {
  KEY_INVALID: 'breb_key_invalid',
  KEY_NOT_FOUND: 'breb_key_not_found',
  KEY_SUSPENDED: 'breb_key_suspended',
};

/** Null when the caller expects no specific holder. */
function matchHolder({ name, documentNumber }: Expected, holder: Resolution): Match | null {
  if (name === undefined && documentNumber === undefined) return null;
  return {
    ...(name === undefined ? {} : { name: matchName(name, holder.name) }),
    ...(documentNumber === undefined ? {} : { documentNumber: matchDocument(documentNumber, holder) }),
  };
}
