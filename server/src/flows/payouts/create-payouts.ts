import { sealCustomer } from '../../customers/customer.seal.ts';
import type { Customer } from '../../customers/customer.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Cents } from '../../kit/money.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { lockAvailable } from '../../ledger/balance.store.ts';
import { post } from '../../ledger/ledger.store.ts';
import { type FoundLookup, findLookups } from '../../payouts/lookup.store.ts';
import { findPayouts, insertPayouts, type NewPayout, payoutOf } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { receiverIndex, sealReceiver } from '../../payouts/receiver.seal.ts';
import { type Created, type Creation, type CreationKind, createOnce } from '../shared/create-once.ts';
import { refusedCreations } from '../shared/reject-creation.ts';
import { holdOf, payoutEvents } from './end-payouts.ts';

export interface CreatePayout extends Creation {
  readonly amount: Cents;
  readonly customer: Customer;
  /** The receiver's key, normalised. */
  readonly key: string;
  /** The lookup it must go by; without one it goes by the newest of the same key, if there is any. */
  readonly lookupId: string | null;
}

export type CreatedPayout = Created<Payout>;

/**
 * Creates payouts, all in one transaction: idempotency keys and references claimed, money set aside, payouts and their
 * first history rows written. What the balance does not cover is declined in the same transaction, with its event.
 * Answers in the order of the commands.
 */
export async function createPayouts(
  deps: Deps,
  commands: readonly CreatePayout[],
  patient = true,
): Promise<CreatedPayout[]> {
  const organizations = new Set(commands.map((command) => command.organization.id));
  const created = await deps.batch.write(
    'create payouts',
    organizations,
    (tx) => createOnce(tx, new Payouts(deps), commands),
    patient,
  );
  // What the balance did not cover has ended, with an event.
  deps.signals.raise('payout_sending', 'event_dispatch');
  return created;
}

class Payouts implements CreationKind<CreatePayout, Payout> {
  readonly referenceKind = 'payout';
  readonly #deps: Deps;
  readonly #lookups = new Map<CreatePayout, FoundLookup>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async find(tx: Tx, wanted: readonly { command: CreatePayout; id: string }[]) {
    const distinct = new Map(
      wanted.map(({ command, id }) => [id, { organizationId: command.organization.id, id }]),
    );
    const rows = new Map((await findPayouts(tx, [...distinct.values()])).map((row) => [row.id, row]));
    return wanted.map(({ command, id }) => {
      const row = rows.get(id);
      return row && payoutOf(row, command.secrets.dataKey);
    });
  }

  /** A payout that names a lookup must be the one that was looked up, and in time. */
  async refuse(tx: Tx, commands: readonly CreatePayout[]): Promise<ReadonlyMap<CreatePayout, ApiError>> {
    const found = await findLookups(
      tx,
      commands.map((command) => ({
        organizationId: command.organization.id,
        receiverIndex: receiverIndex(command.secrets.hashKey, command.key),
        lookupId: command.lookupId,
      })),
    );
    const refusals = refusedCreations(commands, () => ['BRE_B']);
    for (const [index, command] of commands.entries()) {
      const lookup = found[index];
      if (lookup) this.#lookups.set(command, lookup);
      else if (command.lookupId !== null && !refusals.has(command))
        refusals.set(command, new ApiError('lookup_invalid'));
    }
    return refusals;
  }

  async insert(tx: Tx, commands: readonly CreatePayout[]): Promise<readonly Payout[]> {
    const covered = await coveredOf(tx, commands);
    const createdAt = await insertPayouts(
      tx,
      commands.map((command) => newPayout(command, covered.has(command), this.#lookups.get(command) ?? null)),
    );
    await this.#tellDeclined(
      tx,
      commands.filter((command) => !covered.has(command)),
    );
    await post(
      tx,
      commands
        .filter((command) => covered.has(command))
        .map((command) =>
          holdOf(this.#deps, {
            organizationId: command.organization.id,
            id: command.id,
            amount: command.amount,
          }),
        ),
    );
    return commands.map((command) => createdPayout(command, createdAt));
  }

  async #tellDeclined(tx: Tx, commands: readonly CreatePayout[]): Promise<void> {
    if (commands.length === 0) return;
    const rows = await findPayouts(
      tx,
      commands.map(({ organization, id }) => ({ organizationId: organization.id, id })),
    );
    const keys = new Map(commands.map((command) => [command.organization.id, command.secrets.dataKey]));
    const dataKeyOf = (organizationId: string) => {
      const key = keys.get(organizationId);
      if (!key) throw new Error('an event of an organization that is not in the batch');
      return key;
    };
    await recordFinalEvents(tx, payoutEvents(this.#deps, rows, dataKeyOf), dataKeyOf);
  }
}

/** Which of the payouts the balances cover, first come first served. The balances stay locked until the commit. */
async function coveredOf(tx: Tx, commands: readonly CreatePayout[]): Promise<Set<CreatePayout>> {
  const left = await lockAvailable(tx, [...new Set(commands.map((command) => command.organization.id))]);
  const covered = new Set<CreatePayout>();
  for (const command of commands) {
    const available = left.get(command.organization.id) ?? 0n;
    if (available < command.amount) continue;
    left.set(command.organization.id, available - command.amount);
    covered.add(command);
  }
  return covered;
}

function newPayout(command: CreatePayout, covered: boolean, resolved: FoundLookup | null): NewPayout {
  const { id, organization, secrets, amount, reference, customer, key } = command;
  const row = { table: 'payouts', organizationId: organization.id, id } as const;
  return {
    id,
    organizationId: organization.id,
    amount,
    reference,
    sealedCustomer: sealCustomer(secrets.dataKey, customer, row),
    sealedReceiver: sealReceiver(secrets.dataKey, key, organization.id, id),
    receiverIndex: receiverIndex(secrets.hashKey, key),
    resolved,
    endToEndId: resourceReference(id, organization.number),
    anomaly: null,
    covered,
  };
}

/** Lack of funds is an outcome, and outcomes are told by events: the creation answers PROCESSING. */
function createdPayout(command: CreatePayout, createdAt: Date): Payout {
  const { id, organization, amount, reference, customer, key } = command;
  return {
    id,
    organizationId: organization.id,
    amount,
    status: 'PROCESSING',
    errorCode: null,
    reference,
    customer,
    key,
    endToEndId: resourceReference(id, organization.number),
    createdAt,
    updatedAt: createdAt,
    resultAt: null,
  };
}
