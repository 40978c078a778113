import { writeFailure } from '../../db/failures.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { FairQueue } from '../../kit/batch/fair-queue.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { Principal } from '../../organizations/organization.ts';
import { insertLookup } from '../../payouts/lookup.store.ts';
import { giveBackLookups, takeLookup } from '../../payouts/lookup-bucket.store.ts';
import { holderMark, receiverIndex } from '../../payouts/receiver.seal.ts';
import { readReceiverKey } from '../../payouts/receiver-key.ts';
import { maskName, maskNumber, matchDocument, matchName } from '../../payouts/receiver-view.ts';
import type { RailAnswer, RailErrorCode, ReceiverKeyType, Resolution } from '../../rails/contract.ts';
import { RailCaller } from '../shared/rail-caller.ts';

/** Whom the caller means. */
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
  readonly go: () => void;
  readonly giveUp: (fault: ApiError) => void;
}

/** A lookup holds so much shorter than the directory's word, for the payout has to reach the rail in time. */
const MARGIN_MS = 120_000;
/** Each holds a token of the caller's bucket while it waits; more would only wait for the node's connections. */
const AT_ONCE = 16;
const MOST_WAITING = 1000;

/**
 * Looks up keys for merchants. It is an oracle over people's phones and documents, so it is paid for before the directory
 * is asked: what cannot be paid for, or written down, is not answered. The key reaches no log, trace or metric.
 */
export class KeyLookups {
  readonly #deps: Deps;
  readonly #caller: RailCaller;
  readonly #results: Counter;
  readonly #waiting = new FairQueue<Waiting>(MOST_WAITING);
  #underWay = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#caller = new RailCaller(deps, 'BRE_B', 32);
    this.#results = deps.metrics.counter(
      'caudal_breb_lookups_total',
      'Lookups of keys, by what came of them.',
    );
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /**
   * @throws Fault `breb_key_invalid`, `breb_key_not_found`, `breb_key_suspended`, `too_many_lookups`, `rail_unavailable`,
   *   `organization_suspended`, `rail_not_enabled`, `overloaded`, `service_unavailable`
   */
  async lookUp(principal: Principal, text: string, expected: Expected): Promise<KeyLookup> {
    if (principal.organization.suspended) throw new ApiError('organization_suspended');
    if (!principal.organization.rails.has('BRE_B')) throw new ApiError('rail_not_enabled');
    const read = readReceiverKey(text);
    if (!read) throw new ApiError('breb_key_invalid');
    await this.#turn(principal.organization.id);
    try {
      await this.#take(principal.organization.id);
      const [answer] = await this.#caller.call('resolve', [read.key], async (keys) =>
        Promise.all(keys.map((key) => this.#deps.payoutRail.resolve(key))),
      );
      return await this.#conclude(principal, read, answer, expected);
    } finally {
      this.#underWay -= 1;
      this.#waiting.take(1)[0]?.go();
    }
  }

  /** Waits until fewer are under way; organizations take turns. */
  async #turn(organizationId: string): Promise<void> {
    if (this.#underWay >= AT_ONCE)
      await new Promise<void>((go, giveUp) => {
        const refused = this.#waiting.push(organizationId, { go, giveUp });
        refused?.giveUp(new ApiError('overloaded', { reason: 'too many lookups wait' }));
      });
    this.#underWay += 1;
  }

  async #take(organizationId: string): Promise<void> {
    const seconds = await this.#write('take lookup', organizationId, (tx) => takeLookup(tx, organizationId));
    if (seconds === null) return;
    this.#results.add({ result: 'limited' });
    throw new ApiError('too_many_lookups', { retryAfterSeconds: seconds });
  }

  async #conclude(
    { organization, secrets }: Principal,
    { key, keyType }: { readonly key: string; readonly keyType: ReceiverKeyType },
    answer: RailAnswer<Resolution> | undefined,
    expected: Expected,
  ): Promise<KeyLookup> {
    const organizationId = organization.id;
    if (answer?.kind !== 'yes') throw await this.#refused(organizationId, answer);
    const { value: holder } = answer;
    const match = matchOf(expected, holder);
    const missed = match !== null && (match.name === 'NONE' || match.documentNumber === false);
    const lookupId = uuidv7(this.#deps.clock.now(), this.#deps.cell);
    const expiresAt = await this.#write('record lookup', organizationId, async (tx) => {
      if (!missed) await giveBackLookups(tx, [{ organizationId, lookups: 0, misses: 1 }]);
      return insertLookup(tx, {
        organizationId,
        id: lookupId,
        receiverIndex: receiverIndex(secrets.hashKey, key),
        resolutionId: holder.resolutionId,
        holder: holderMark(secrets.hashKey, holder),
        validForMs: this.#deps.payoutRail.capabilities.resolutionMs - MARGIN_MS,
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

  async #refused(organizationId: string, answer: RailAnswer<Resolution> | undefined): Promise<ApiError> {
    if (answer?.kind !== 'no') {
      // Nothing was learnt, so it is no miss; but asking costs, or somebody could keep the directory busy for nothing.
      await this.#write('record lookup', organizationId, (tx) =>
        giveBackLookups(tx, [{ organizationId, lookups: 0, misses: 1 }]),
      );
      this.#results.add({ result: 'unanswered' });
      return new ApiError('rail_unavailable');
    }
    this.#results.add({ result: 'missed' });
    return new ApiError(FAULTS[answer.errorCode] ?? 'breb_key_not_found');
  }

  #write<T>(
    name: 'take lookup' | 'record lookup',
    organizationId: string,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    return this.#deps.batch.write(name, new Set([organizationId]), work).catch((error: unknown) => {
      const failure = writeFailure(error);
      // Nothing that a caller could repeat in a safer way: whether a token was taken is no outcome of theirs.
      throw failure instanceof ApiError && failure.code === 'outcome_unknown'
        ? new ApiError('service_unavailable', { cause: error, reason: 'a commit is not known' })
        : failure;
    });
  }
}

const FAULTS: Partial<
  Record<RailErrorCode, 'breb_key_invalid' | 'breb_key_not_found' | 'breb_key_suspended'>
> = {
  KEY_INVALID: 'breb_key_invalid',
  KEY_NOT_FOUND: 'breb_key_not_found',
  KEY_SUSPENDED: 'breb_key_suspended',
};

/** Null when the caller named nobody. */
function matchOf({ name, documentNumber }: Expected, holder: Resolution): Match | null {
  if (name === undefined && documentNumber === undefined) return null;
  return {
    ...(name === undefined ? {} : { name: matchName(name, holder.name) }),
    ...(documentNumber === undefined ? {} : { documentNumber: matchDocument(documentNumber, holder) }),
  };
}
