import type { FieldsOf } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import { ApiError } from '../../kit/errors.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { post } from '../../ledger/ledger.store.ts';
import { type FoundLookup, findLookups } from '../../payouts/lookup.store.ts';
import { exhaustedMisses } from '../../payouts/lookup-bucket.store.ts';
import type { CREATED_COLUMNS } from '../../payouts/payout.columns.ts';
import { findPayouts, insertPayouts, type NewPayout, payoutFromRow } from '../../payouts/payout.store.ts';
import { asCreated, type Payout } from '../../payouts/payout.ts';
import { receiverIndex } from '../../payouts/receiver.encryption.ts';
import {
  type Created,
  type Creation,
  type CreationKind,
  createBatch,
  replayFinder,
  storedTrace,
} from '../shared/create-once.ts';
import { Creator } from '../shared/creator.ts';
import { rejectedCreations } from '../shared/reject-creation.ts';
import { type Admission, admitPayouts } from './admit-payouts.ts';
import { payoutEvents, toHoldTransfer } from './end-payouts.ts';

/** A command to create a payout for a merchant. */
export interface CreatePayout
  extends Creation,
    Omit<FieldsOf<typeof CREATED_COLUMNS>, 'organizationId' | 'endToEndId' | 'traceContext'> {
  /** The receiver's Bre-B key, normalized. */
  readonly brebKey: string;
  /** The lookup it must use; null uses the newest lookup of the same Bre-B key, if there is one. */
  readonly lookupId: string | null;
}

/**
 * Creates payouts in one transaction: reserves idempotency keys and references, holds the money, inserts payouts and their
 * first history rows. A payout that the balance does not cover or a limit does not allow is declined in the same transaction,
 * with its event.
 * @returns results in the order of the commands
 */
async function createPayouts(
  deps: Deps,
  commands: readonly CreatePayout[],
  waitForLocks = true,
): Promise<Created<Payout>[]> {
  const created = await createBatch(deps, new Payouts(deps), commands, waitForLocks);
  // A payout that was declined on creation is final and has an event to dispatch.
  deps.signals.raise('payout_sending', 'event_dispatch');
  return created;
}

/** Creates payouts for merchants. It sends no orders: workers lease due payouts from the database. */
export function payoutCreator(deps: Deps): Creator<CreatePayout, Payout> {
  return new Creator(deps, {
    operation: 'payouts.create',
    run: (commands, waitForLocks) => createPayouts(deps, commands, waitForLocks),
    asCreated,
    lanes: deps.batchLanes,
    gauge: 'caudal_payout_queue',
    about: 'Payouts waiting for a batch.',
  });
}

class Payouts implements CreationKind<CreatePayout, Payout> {
  readonly referenceKind = 'payout';
  readonly task = 'create payouts';
  readonly find = replayFinder(findPayouts, payoutFromRow);
  readonly #deps: Deps;
  readonly #lookups = new Map<CreatePayout, FoundLookup>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Rejects a payout whose lookup has expired or is of another Bre-B key, and payouts to keys without a lookup while the
   * organization has no `misses` left: their outcomes would tell which keys exist.
   */
  async reject(tx: Tx, commands: readonly CreatePayout[]): Promise<ReadonlyMap<CreatePayout, ApiError>> {
    const found = await findLookups(
      tx,
      commands.map((command) => ({
        organizationId: command.organization.id,
        receiverIndex: receiverIndex(command.secrets.hashKey, command.brebKey),
        lookupId: command.lookupId,
      })),
    );
    const rejections = rejectedCreations(commands, () => ['BRE_B']);
    for (const [index, command] of commands.entries()) {
      const lookup = found[index];
      if (lookup) this.#lookups.set(command, lookup);
      else if (command.lookupId !== null && !rejections.has(command))
        rejections.set(command, new ApiError('lookup_invalid'));
    }
    await this.#rejectUnseen(tx, commands, rejections);
    return rejections;
  }

  async #rejectUnseen(
    tx: Tx,
    commands: readonly CreatePayout[],
    rejections: Map<CreatePayout, ApiError>,
  ): Promise<void> {
    const unseen = commands.filter((command) => !this.#lookups.has(command) && !rejections.has(command));
    const organizationIds = [...new Set(unseen.map(({ organization }) => organization.id))];
    const exhausted = await exhaustedMisses(tx, organizationIds);
    for (const command of unseen) {
      const retryAfterSeconds = exhausted.get(command.organization.id);
      if (retryAfterSeconds !== undefined)
        rejections.set(command, new ApiError('too_many_lookups', { retryAfterSeconds }));
    }
  }

  async insert(tx: Tx, commands: readonly CreatePayout[]): Promise<readonly Payout[]> {
    const admissions = await admitPayouts(tx, commands);
    const isRefused = (command: CreatePayout) => admissions.get(command)?.refusal !== null;
    const payouts = await insertPayouts(
      tx,
      commands.map((command) =>
        newPayout(command, admissions.get(command) as Admission, this.#lookups.get(command) ?? null),
      ),
    );
    await this.#recordDeclinedEvents(tx, commands.filter(isRefused));
    await post(
      tx,
      commands
        .filter((command) => !isRefused(command))
        .map((command) =>
          toHoldTransfer(this.#deps, {
            organizationId: command.organization.id,
            id: command.id,
            amount: command.amount,
            createdBy: command.createdBy,
          }),
        ),
    );
    return payouts;
  }

  async #recordDeclinedEvents(tx: Tx, commands: readonly CreatePayout[]): Promise<void> {
    if (commands.length === 0) return;
    const rows = await findPayouts(
      tx,
      commands.map(({ organization, id }) => ({ organizationId: organization.id, id })),
    );
    const dataKeys = new Map(commands.map((command) => [command.organization.id, command.secrets.dataKey]));
    const getDataKey = (organizationId: string) => {
      const dataKey = dataKeys.get(organizationId);
      if (!dataKey) throw new Error('the event belongs to an organization that is not in the batch');
      return dataKey;
    };
    await recordFinalEvents(tx, payoutEvents(this.#deps, rows, getDataKey), getDataKey);
  }
}

function newPayout(command: CreatePayout, admission: Admission, resolved: FoundLookup | null): NewPayout {
  const { id, organization } = command;
  const endToEndId = resourceReference(id, organization.number);
  const organizationId = organization.id;
  const traceContext = storedTrace(command);
  return { ...command, ...admission, organizationId, endToEndId, traceContext, resolved, anomaly: null };
}
