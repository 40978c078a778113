import { insertAnomalies, type NewAnomaly } from '../../anomalies/anomaly.store.ts';
import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { SYSTEM } from '../../kit/actor.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
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
import { maxArrivalMs } from '../../payouts/payout.waiting.ts';
import {
  accountedExecutions,
  type PayoutExecution,
  recordExecutions,
} from '../../payouts/payout-execution.store.ts';
import {
  adoptExecutions,
  type LockedPayout,
  lastRejections,
  lockPayouts,
  reschedulePayouts,
} from '../../payouts/payout-outcome.store.ts';
import type { OrderStatus, RailErrorCode } from '../../rails/contract.ts';
import {
  type ApplyOptions,
  distinctRows,
  findByReference,
  isPremature,
  type RailUpdate,
  type UpdateResult,
} from '../shared/rail-update.ts';
import { endPayouts, postEnded } from './end-payouts.ts';

/** @property sentMsAgo time from the last attempt to the poll: the rail's answer says nothing about later attempts */
export type PayoutUpdate = RailUpdate<OrderStatus> & { readonly sentMsAgo?: number | null };

/**
 * Applies rail updates of payouts in the caller's transaction: final states with their history and event, transfers and
 * anomalies. Updates of the same payout are applied in order. Every transaction locks payouts first and balances last.
 */
export async function applyPayoutUpdates(
  deps: SystemDeps,
  dataKeys: DataKeys,
  tx: Tx,
  updates: readonly PayoutUpdate[],
  { leaseToken, conclude, onTraces }: ApplyOptions = {},
): Promise<UpdateResult[]> {
  // Our end-to-end id encodes the organization number and the payout id.
  const owners = await findByReference(
    tx,
    updates.map(({ reference }) => reference),
  );
  const locked = await lockPayouts(tx, distinctRows(owners.values()));
  // Matched by the full reference: one with a valid payout id and the wrong organization number matches no payout.
  const payouts = new Map(locked.map((row) => [row.end_to_end_id, row]));
  onTraces?.(updates.map(({ reference }) => payouts.get(reference)?.trace_context ?? null));
  const outcome = new Outcome(
    deps,
    await accountedExecutions(tx, 'BRE_B', updates.flatMap(getExecutionIds)),
    await lastRejections(tx, locked),
  );
  const results = updates.map((update) => outcome.apply(update, payouts.get(update.reference) ?? null));

  const transfers = await endPayouts(deps, dataKeys, tx, outcome.transitions, SYSTEM);
  await adoptExecutions(tx, outcome.adopted);
  await recordExecutions(tx, outcome.executions);
  await insertAnomalies(tx, outcome.anomalies);
  if (leaseToken !== undefined) await reschedulePayouts(tx, outcome.tasks(locked), leaseToken);
  await conclude?.(results);
  await postEnded(tx, [...transfers, ...outcome.transfers]);
  return results;
}

/** Collects the effects of a batch of updates, which are applied one after the other. */
class Outcome {
  readonly transitions: (RowId & Transition)[] = [];
  readonly adopted: (RowId & { readonly executionId: string })[] = [];
  readonly transfers: Transfer[] = [];
  readonly anomalies: NewAnomaly[] = [];
  /** Executions that this batch attributes first. */
  readonly executions: PayoutExecution[] = [];
  readonly #deps: SystemDeps;
  /** The payout that each execution is attributed to, null for none of ours; includes this batch's own. */
  readonly #accounted: Map<string, string | null>;
  readonly #rejections: ReadonlyMap<string, RailErrorCode>;
  readonly #ended = new Map<string, { readonly status: PayoutStatus; readonly executionId: string | null }>();
  readonly #toSendAgain = new Set<string>();
  /** The status that the rail reported for each polled payout. */
  readonly #railStatus = new Map<string, OrderStatus['state']>();

  constructor(
    deps: SystemDeps,
    accounted: ReadonlyMap<string, string | null>,
    rejections: ReadonlyMap<string, RailErrorCode>,
  ) {
    this.#deps = deps;
    this.#accounted = new Map(accounted);
    this.#rejections = rejections;
  }

  /** The next rail task of each polled payout. */
  tasks(locked: readonly LockedPayout[]) {
    return locked.map((payout) => ({
      organizationId: payout.organization_id,
      id: payout.id,
      next: this.#nextTask(payout),
      railStatus: this.#railStatus.get(payout.id) ?? null,
    }));
  }

  #nextTask({ id, status, attempts, sent_ms_ago }: LockedPayout): PayoutTask | null {
    const pollAgain: PayoutTask = { task: 'poll', afterMs: nextPollMs(sent_ms_ago ?? 0) };
    // The payout was final before, and this was its last poll, unless the rail still processes the order.
    if (status !== 'PROCESSING') return this.#railStatus.get(id) === 'processing' ? pollAgain : null;
    if (!this.#toSendAgain.has(id)) return pollAgain;
    // The first resend is immediate, because the usual cause is a crashed process. Later resends back off.
    return { task: 'send', afterMs: attempts === 1 ? 0 : backoffMs(attempts - 1, 5000, 600_000) };
  }

  apply(update: PayoutUpdate, payout: LockedPayout | null): UpdateResult {
    const input = payout && this.#input(update, payout);
    if (payout && update.railStatus) this.#railStatus.set(payout.id, update.railStatus.state);
    const { notification, railStatus } = update;
    const premature = isPremature(update, isConfirmedBy);
    const isTaken = (executionId: string) => this.#isTaken(executionId, payout);
    const decision = railStatus
      ? decideFromStatus(input, railStatus, isTaken, premature ? null : notification)
      : notification
        ? decideFromNotification(input, notification, isTaken)
        : 'duplicate';
    if (typeof decision === 'string') return decision;
    const changed = this.#collect(update, payout, decision);
    if (premature) return 'needs_verification';
    if (decision.detectedAnomalies.some((detectedAnomaly) => detectedAnomaly.kind === 'unconfirmed'))
      return 'unconfirmed';
    return changed ? 'applied' : 'duplicate';
  }

  /** @returns whether the decision changes anything */
  #collect(
    update: PayoutUpdate,
    payout: LockedPayout | null,
    { transition, detectedAnomalies, sendAgain, adopt }: Decision,
  ): boolean {
    const organizationId = payout?.organization_id ?? OPERATOR_ORGANIZATION_ID;
    if (payout && transition) {
      this.transitions.push({ organizationId, id: payout.id, ...transition });
      this.#ended.set(payout.id, { status: transition.to, executionId: transition.executionId });
      this.#account(organizationId, payout.id, transition.executionId);
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
      this.#addAnomaly(update, organizationId, payout?.id ?? null, detectedAnomaly);
    return transition !== null || adopt !== null || fresh.length > 0;
  }

  #addAnomaly(
    { rail, reference }: PayoutUpdate,
    organizationId: string,
    payoutId: string | null,
    detectedAnomaly: DetectedAnomaly,
  ): void {
    const { kind, executionId, amount } = detectedAnomaly;
    const id = this.#freshId();
    if (executionId !== null && amount !== null) {
      // Money left that no payout accounts for: suspense owes it until an operator resolves the anomaly.
      this.transfers.push({
        id: this.#freshId(),
        organizationId,
        debit: 'suspense',
        credit: CLEARING[rail],
        amount,
        cause: { kind: 'execution', id: causeId(executionId) },
        resourceId: id,
        createdBy: SYSTEM,
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

  /** Attributed to another payout or to an unknown order, so it cannot have paid this payout. */
  #isTaken(executionId: string, payout: LockedPayout | null): boolean {
    const owner = this.#accounted.get(executionId);
    return owner !== undefined && owner !== (payout?.id ?? null);
  }

  #input({ sentMsAgo = null }: PayoutUpdate, payout: LockedPayout): OutcomeInput {
    const { maxProcessingMs, rejectsDuplicateOrders } = this.#deps.payoutRail.capabilities;
    return {
      ...this.#currentState(payout),
      amount: cents(payout.amount_in_cents),
      sentAttempts: payout.sent_attempts,
      rejection: this.#rejections.get(payout.id) ?? null,
      noOrderInFlight: sentMsAgo !== null && sentMsAgo >= maxArrivalMs({ maxProcessingMs }),
      rejectsDuplicateOrders,
    };
  }

  #currentState(payout: LockedPayout) {
    return this.#ended.get(payout.id) ?? { status: payout.status, executionId: payout.execution_id };
  }

  #freshId(): string {
    return uuidv7(this.#deps.clock.now(), this.#deps.cell);
  }
}

function causeId(executionId: string): string {
  return `BRE_B:${executionId}`;
}

/** One execution can contradict several payouts; each is a separate anomaly. */
function onceName(kind: DetectedAnomaly['kind'], executionId: string | null, reference: string): string {
  if (executionId === null) return reference;
  return kind === 'contradiction' ? `${executionId}/${reference}` : executionId;
}

function getExecutionIds({ notification, railStatus }: PayoutUpdate): string[] {
  return [
    ...(notification?.kind === 'paid' ? [notification.executionId] : []),
    ...(railStatus?.executionId ? [railStatus.executionId] : []),
  ];
}
