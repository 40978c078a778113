import { insertAnomalies, type NewAnomaly } from '../../anomalies/anomaly.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { readResourceReference } from '../../kit/resource-reference.ts';
import { post } from '../../ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { organizationsByNumber } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import {
  type Decision,
  type DetectedAnomaly,
  decideFromNotification,
  decideFromStatus,
  isConfirmedBy,
  type OutcomeInput,
  type Transition,
} from '../../payouts/payout.outcome.ts';
import { nextPollMs, type PayoutTask } from '../../payouts/payout.polling.ts';
import type { PayoutStatus } from '../../payouts/payout.states.ts';
import type { PayoutKey } from '../../payouts/payout.store.ts';
import { arrivesWithinMs } from '../../payouts/payout.waiting.ts';
import {
  accountedExecutions,
  type PayoutExecution,
  recordExecutions,
} from '../../payouts/payout-execution.store.ts';
import {
  adoptExecutions,
  type LockedPayout,
  lastRefusals,
  lockPayouts,
  reschedulePayouts,
} from '../../payouts/payout-outcome.store.ts';
import type { OrderStatus, RailErrorCode } from '../../rails/contract.ts';
import type { ApplyOptions, RailUpdate, UpdateResult } from '../shared/rail-update.ts';
import { endPayouts } from './end-payouts.ts';

/** @property sentMsAgo how long ago the order had last left before the rail was asked: its answer says nothing about later */
export type PayoutUpdate = RailUpdate<OrderStatus> & { readonly sentMsAgo?: number | null };

/**
 * Makes of words about payouts what follows from them, all in the caller's transaction: final states with their history
 * and event, transfers, anomalies. Words of the same payout are taken in order. Payouts are locked first and balances
 * last, by every transaction alike.
 */
export async function applyPayoutUpdates(
  deps: SystemDeps,
  keys: DataKeys,
  tx: Tx,
  updates: readonly PayoutUpdate[],
  { leaseToken, conclude }: ApplyOptions,
): Promise<UpdateResult[]> {
  const owners = await ownersOf(tx, updates);
  const locked = await lockPayouts(tx, distinct([...owners.values()]));
  // A reference that names a payout of ours under a number that is not its own is nobody's.
  const payouts = new Map(locked.map((row) => [row.end_to_end_id, row]));
  const outcome = new Outcome(
    deps,
    await accountedExecutions(tx, 'BRE_B', updates.flatMap(executionsOf)),
    await lastRefusals(tx, locked),
  );
  const results = updates.map((update) => outcome.hear(update, payouts.get(update.reference) ?? null));

  const transfers = await endPayouts(deps, keys, tx, outcome.moves);
  await adoptExecutions(tx, outcome.adopted);
  await recordExecutions(tx, outcome.executions);
  await insertAnomalies(tx, outcome.anomalies);
  if (leaseToken !== null) await reschedulePayouts(tx, outcome.tasks(locked), leaseToken);
  await conclude(results);
  await post(tx, [...transfers, ...outcome.transfers]);
  return results;
}

/** What a batch of words comes to, gathered while they are heard one after the other. */
class Outcome {
  readonly moves: (PayoutKey & Transition)[] = [];
  readonly adopted: (PayoutKey & { readonly executionId: string })[] = [];
  readonly transfers: Transfer[] = [];
  readonly anomalies: NewAnomaly[] = [];
  /** Executions that this batch is the first to account for. */
  readonly executions: PayoutExecution[] = [];
  readonly #deps: SystemDeps;
  /** The payout that each execution is accounted to, null for none of ours; this batch's own among them. */
  readonly #accounted: Map<string, string | null>;
  readonly #refusals: ReadonlyMap<string, RailErrorCode>;
  readonly #ended = new Map<string, { readonly status: PayoutStatus; readonly executionId: string | null }>();
  readonly #toSendAgain = new Set<string>();
  /** What the rail reported about each payout it was queried about. */
  readonly #railStatus = new Map<string, OrderStatus['state']>();

  constructor(
    deps: SystemDeps,
    accounted: ReadonlyMap<string, string | null>,
    refusals: ReadonlyMap<string, RailErrorCode>,
  ) {
    this.#deps = deps;
    this.#accounted = new Map(accounted);
    this.#refusals = refusals;
  }

  /** What is to be done next about those that were asked about. */
  tasks(locked: readonly LockedPayout[]) {
    return locked.map((payout) => ({
      organizationId: payout.organization_id,
      id: payout.id,
      next: this.#next(payout),
      railStatus: this.#railStatus.get(payout.id) ?? null,
    }));
  }

  #next({ id, status, attempts, sent_ms_ago }: LockedPayout): PayoutTask | null {
    const again: PayoutTask = { task: 'ask', afterMs: nextPollMs(sent_ms_ago ?? 0) };
    // It had ended before, and this was the last question about it, unless the rail is still at it.
    if (status !== 'PROCESSING') return this.#railStatus.get(id) === 'processing' ? again : null;
    if (!this.#toSendAgain.has(id)) return again;
    // The first repeat at once: it is a process that died. What never arrives leaves ever more rarely.
    return { task: 'send', afterMs: attempts === 1 ? 0 : backoffMs(attempts - 1, 5000, 600_000) };
  }

  hear(update: PayoutUpdate, payout: LockedPayout | null): UpdateResult {
    const input = payout && this.#input(update, payout);
    if (payout && update.railStatus) this.#railStatus.set(payout.id, update.railStatus.state);
    const { notification, railStatus, pastProcessingWindow } = update;
    // The answer may be older than the message: what else it says holds, but the message is not done with yet.
    const early =
      railStatus !== null &&
      notification !== null &&
      !pastProcessingWindow &&
      !isConfirmedBy(railStatus, notification);
    const isTaken = (executionId: string) => this.#isTaken(executionId, payout);
    const decision = railStatus
      ? decideFromStatus(input, railStatus, isTaken, early ? null : notification)
      : notification
        ? decideFromNotification(input, notification, isTaken)
        : 'duplicate';
    if (typeof decision === 'string') return decision;
    const news = this.#take(update, payout, decision);
    if (early) return 'needs_verification';
    if (decision.detectedAnomalies.some((detectedAnomaly) => detectedAnomaly.kind === 'unconfirmed'))
      return 'unconfirmed';
    return news ? 'applied' : 'duplicate';
  }

  /** @returns whether there was anything new in it */
  #take(
    update: PayoutUpdate,
    payout: LockedPayout | null,
    { move, detectedAnomalies, sendAgain, adopt }: Decision,
  ): boolean {
    const organizationId = payout?.organization_id ?? OPERATOR_ORGANIZATION_ID;
    if (payout && move) {
      this.moves.push({ organizationId, id: payout.id, ...move });
      this.#ended.set(payout.id, { status: move.to, executionId: move.executionId });
      this.#account(organizationId, payout.id, move.executionId);
    }
    if (payout && sendAgain) this.#toSendAgain.add(payout.id);
    if (payout && adopt !== null) {
      this.adopted.push({ organizationId, id: payout.id, executionId: adopt });
      this.#ended.set(payout.id, { status: 'CONFIRMED', executionId: adopt });
      this.#account(organizationId, payout.id, adopt);
    }
    const fresh = detectedAnomalies.filter(
      ({ executionId, amount }) => amount === null || !this.#accounted.has(executionId ?? ''),
    );
    for (const detectedAnomaly of fresh)
      this.#note(update, organizationId, payout?.id ?? null, detectedAnomaly);
    return move !== null || adopt !== null || fresh.length > 0;
  }

  #note(
    { rail, reference }: PayoutUpdate,
    organizationId: string,
    payoutId: string | null,
    detectedAnomaly: DetectedAnomaly,
  ): void {
    const { kind, executionId, amount } = detectedAnomaly;
    const id = this.#freshId();
    if (executionId !== null && amount !== null) {
      // It left without anybody answering for it: suspense owes it until an operator says who does.
      this.transfers.push({
        id: this.#freshId(),
        organizationId,
        debit: 'suspense',
        credit: CLEARING[rail],
        amount,
        cause: { kind: 'execution', id: causeId(executionId) },
        resourceId: id,
      });
      this.#account(organizationId, payoutId, executionId);
    }
    this.anomalies.push({
      organizationId,
      id,
      payinId: null,
      payoutId,
      rail,
      kind,
      reference,
      executionId,
      amount: amount === null ? null : 0n - amount,
      once: `payout/${kind}/${rail}/${onceName(kind, executionId, reference)}${amount === null ? '' : '/money'}`,
    });
  }

  #account(organizationId: string, payoutId: string | null, executionId: string | null): void {
    if (executionId === null) return;
    this.executions.push({ rail: 'BRE_B', executionId, organizationId, payoutId });
    this.#accounted.set(executionId, payoutId);
  }

  /** Accounted to another payout than this one. Money of an unknown order is not this payout's either. */
  #isTaken(executionId: string, payout: LockedPayout | null): boolean {
    const owner = this.#accounted.get(executionId);
    return owner !== undefined && owner !== (payout?.id ?? null);
  }

  #input({ sentMsAgo = null }: PayoutUpdate, payout: LockedPayout): OutcomeInput {
    const { maxProcessingMs, rejectsDuplicateOrders } = this.#deps.payoutRail.capabilities;
    return {
      ...this.#standOf(payout),
      amount: cents(payout.amount_in_cents),
      attempts: payout.attempts,
      refusal: this.#refusals.get(payout.id) ?? null,
      nothingUnderWay: sentMsAgo !== null && sentMsAgo >= arrivesWithinMs({ maxProcessingMs }),
      rejectsDuplicateOrders,
    };
  }

  #standOf(payout: LockedPayout) {
    return this.#ended.get(payout.id) ?? { status: payout.status, executionId: payout.execution_id };
  }

  #freshId(): string {
    return uuidv7(this.#deps.clock.now(), this.#deps.cell);
  }
}

function causeId(executionId: string): string {
  return `BRE_B:${executionId}`;
}

/** One execution can contradict several payouts, and each of them is an anomaly of its own. */
function onceName(kind: DetectedAnomaly['kind'], executionId: string | null, reference: string): string {
  if (executionId === null) return reference;
  return kind === 'contradiction' ? `${executionId}/${reference}` : executionId;
}

function executionsOf({ notification, railStatus }: PayoutUpdate): string[] {
  return [
    ...(notification?.kind === 'paid' ? [notification.executionId] : []),
    ...(railStatus?.executionId ? [railStatus.executionId] : []),
  ];
}

/** Whose payouts these are, by what our end-to-end id says of itself. */
async function ownersOf(tx: Tx, updates: readonly PayoutUpdate[]): Promise<Map<string, PayoutKey>> {
  const named = updates.map(({ reference }) => ({ reference, read: readResourceReference(reference) }));
  const organizations = await organizationsByNumber(
    tx,
    named.flatMap(({ read }) => (read ? [read.organizationNumber] : [])),
  );
  const owners = new Map<string, PayoutKey>();
  for (const { reference, read } of named) {
    const organizationId = read ? organizations.get(read.organizationNumber) : undefined;
    if (read && organizationId !== undefined) owners.set(reference, { organizationId, id: read.id });
  }
  return owners;
}

function distinct(payouts: readonly PayoutKey[]): PayoutKey[] {
  return [...new Map(payouts.map((payout) => [`${payout.organizationId}/${payout.id}`, payout])).values()];
}
