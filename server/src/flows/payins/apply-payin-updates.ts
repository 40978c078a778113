import { insertAnomalies, type NewAnomaly, resolveListed } from '../../anomalies/anomaly.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { NewEvent } from '../../events/event.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { readResourceReference } from '../../kit/resource-reference.ts';
import { post, postedCauses } from '../../ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { organizationsByNumber } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { payinEventData } from '../../payins/payin.event.ts';
import {
  type Decision,
  type DetectedAnomaly,
  decideFromNotification,
  decideFromStatus,
  isConfirmedBy,
  type OutcomeInput,
  type Posting,
  type Transition,
} from '../../payins/payin.outcome.ts';
import {
  lastPollMs,
  lastTask,
  nextTask,
  type RailTask,
  verificationTask,
} from '../../payins/payin.polling.ts';
import { isFinal, type PayinStatus } from '../../payins/payin.states.ts';
import { payinWithoutCustomer } from '../../payins/payin.store.ts';
import {
  type LockedPayin,
  lockPayins,
  type MovedPayin,
  movePayins,
  type PayinKey,
  payinsOfKeys,
  reschedulePayins,
} from '../../payins/payin-outcome.store.ts';
import { type EndedAttempt, endAttempts, lockLinks } from '../../payment-links/payment-link-outcome.store.ts';
import type { CollectionStatus, Rail } from '../../rails/contract.ts';
import { linkEvents } from '../payment-links/link-events.ts';
import type { ApplyOptions, RailUpdate, UpdateResult } from '../shared/rail-update.ts';

export type PayinUpdate = RailUpdate<Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>> & {
  /** Queried by an operator who ends the payin when the rail lists no payment. */
  readonly operatorEnds?: boolean;
};

/**
 * Makes of words what follows from them, all in the caller's transaction: final states with their history and event,
 * transfers, anomalies. Words of the same payin are taken in order. Payins are locked first and balances last, by every
 * transaction alike.
 */
export async function applyPayinUpdates(
  deps: SystemDeps,
  keys: DataKeys,
  tx: Tx,
  updates: readonly PayinUpdate[],
  { leaseToken, conclude }: ApplyOptions,
): Promise<UpdateResult[]> {
  const owners = await ownersOf(tx, updates);
  const locked = await lockPayins(tx, distinct([...owners.values()]));
  const payins = new Map(locked.map((row) => [nameOf(row.organization_id, row.id), row]));
  const waiting = await waitingLinks(tx, locked);
  const outcome = new Outcome(deps, await bookedExecutions(tx, updates, locked), waiting);
  const results = updates.map((update) => {
    const owner = owners.get(update);
    return outcome.hear(update, owner ? (payins.get(nameOf(owner.organizationId, owner.id)) ?? null) : null);
  });

  const moved = await movePayins(tx, outcome.moves, {
    settlementDelayMinutes: deps.settlementDelayMinutes,
    lastPollMs: lastPollMs(deps.rails.BRE_B.capabilities.maxProcessingMs),
  });
  const secrets = await keys.within(tx, new Set(moved.map((row) => row.organization_id)));
  const completed = await endAttempts(tx, moved.flatMap(endedAttempt));
  await recordFinalEvents(
    tx,
    [...eventsOf(deps, moved), ...linkEvents(deps, completed)],
    (organizationId) => secrets(organizationId).dataKey,
  );
  const raised = await insertAnomalies(tx, outcome.anomalies);
  await resolveListed(tx, outcome.verified);
  await reschedulePayins(
    tx,
    locked.map((payin) => ({
      organizationId: payin.organization_id,
      id: payin.id,
      next: outcome.nextTask(payin),
      verified: outcome.isVerified(payin),
      endToEndId: outcome.endToEndIdOf(payin),
    })),
    { leaseToken, settlementDelayMinutes: deps.settlementDelayMinutes },
  );
  await conclude(results);
  await post(tx, outcome.transfers);
  outcome.alarm(raised);
  return results;
}

/** What a batch of words comes to, gathered while they are heard one after the other. */
class Outcome {
  readonly moves: (PayinKey & Transition & { readonly from: PayinStatus })[] = [];
  readonly transfers: Transfer[] = [];
  readonly anomalies: NewAnomaly[] = [];
  readonly #verified = new Map<string, PayinKey & { readonly endToEndId: string | undefined }>();
  /** Payins that were queried after the processing time of their payment. */
  readonly #decided = new Set<string>();
  readonly #deps: SystemDeps;
  readonly #booked: Set<string>;
  /** Booked and taken back by an operator: they may be booked once more. */
  readonly #reversed: Set<string>;
  readonly #waiting: ReadonlySet<string>;
  readonly #status = new Map<string, PayinStatus>();

  /** @param waiting payment links that wait for their money */
  constructor(deps: SystemDeps, { booked, reversed }: BookedExecutions, waiting: ReadonlySet<string>) {
    this.#deps = deps;
    this.#booked = new Set(booked);
    this.#reversed = new Set(reversed);
    this.#waiting = waiting;
  }

  /** What is to be done next about a payin that the rail was queried about; null when nothing is. */
  nextTask(payin: LockedPayin): RailTask | null {
    const { rail, now, rail_task: justDone } = payin;
    if (!isFinal(this.#statusOf(payin)))
      return nextTask(rail, {
        createdAt: payin.created_at,
        expiresAt: payin.expires_at,
        now,
        closed: justDone === 'close',
      });
    const ended = { now, endedMsAgo: payin.ended_ms_ago ?? 0 };
    const reversed = payin.settlement_status === 'REVERSED';
    const { maxProcessingMs } = this.#deps.rails[rail].capabilities;
    if (!reversed && !this.#isUnverified(payin))
      return lastTask(rail, { ...ended, justDone, maxProcessingMs });
    return verificationTask({
      ...ended,
      maxProcessingMs,
      decided: this.#decided.has(payin.id),
      reversed,
    });
  }

  /** Payins whose payment the rail lists: they may settle. */
  get verified(): PayinKey[] {
    return [...this.#verified.values()];
  }

  isVerified({ id }: LockedPayin): boolean {
    return this.#verified.has(id);
  }

  /** As the status lists it that verified the payment. */
  endToEndIdOf({ id }: LockedPayin): string | undefined {
    return this.#verified.get(id)?.endToEndId;
  }

  /** An operator must look at once: money that was booked may not exist. */
  alarm(raised: ReadonlySet<string>): void {
    for (const { organizationId, id, kind, payinId, rail } of this.anomalies)
      if (kind === 'payment_not_listed' && raised.has(id))
        this.#deps.log.error(
          { code: 'payment_not_listed', organizationId, anomalyId: id, payinId, rail },
          'the rail does not list the payment of a confirmed payin; its settlement is held',
        );
  }

  hear(update: PayinUpdate, payin: LockedPayin | null): UpdateResult {
    const input = payin && { ...this.#input(update, payin), operatorEnds: update.operatorEnds === true };
    const isBooked = (executionId: string) => this.#booked.has(causeId(update.rail, executionId));
    const isReversed = (executionId: string) => this.#reversed.has(causeId(update.rail, executionId));
    const { notification, railStatus, pastProcessingWindow } = update;
    // The answer may be older than the message: what else it says holds, but the message is not done with yet.
    const early =
      railStatus !== null &&
      notification !== null &&
      !pastProcessingWindow &&
      !isConfirmedBy(input, railStatus, notification);
    const decision = railStatus
      ? decideFromStatus(input, railStatus, isBooked, early ? null : notification)
      : notification
        ? decideFromNotification(input, notification, isBooked, isReversed)
        : 'duplicate';
    if (typeof decision === 'string') return decision;
    if (payin && notification === null && pastProcessingWindow) this.#decided.add(payin.id);
    this.#take(update, payin, decision);
    if (early) return 'needs_verification';
    if (decision.detectedAnomalies.some((detectedAnomaly) => detectedAnomaly.kind === 'unconfirmed'))
      return 'unconfirmed';
    return decision.move === null && decision.postings.length + decision.detectedAnomalies.length === 0
      ? 'duplicate'
      : 'applied';
  }

  #take(update: PayinUpdate, payin: LockedPayin | null, decision: Decision): void {
    const { move, postings, detectedAnomalies, verifies, endToEndId } = decision;
    const organizationId = payin?.organization_id ?? OPERATOR_ORGANIZATION_ID;
    if (payin && verifies) this.#verified.set(payin.id, { organizationId, id: payin.id, endToEndId });
    if (payin && move) {
      this.moves.push({ organizationId, id: payin.id, from: this.#statusOf(payin), ...move });
      this.#status.set(payin.id, move.to);
    }
    for (const posting of postings) {
      this.transfers.push(this.#transfer(update.rail, organizationId, payin?.id ?? null, posting));
      this.#booked.add(causeId(update.rail, posting.executionId));
      this.#reversed.delete(causeId(update.rail, posting.executionId));
    }
    for (const detectedAnomaly of detectedAnomalies)
      this.anomalies.push(this.#anomaly(update, organizationId, payin?.id ?? null, detectedAnomaly));
  }

  #transfer(rail: Rail, organizationId: string, payinId: string | null, posting: Posting): Transfer {
    const id = causeId(rail, posting.executionId);
    const kind = this.#reversed.has(id) ? 'payment_relisted' : 'payment';
    return {
      id: this.#freshId(),
      organizationId,
      debit: CLEARING[rail],
      credit: posting.into,
      amount: posting.amount,
      cause: { kind: posting.excess ? 'payment_excess' : kind, id },
      resourceId: payinId,
    };
  }

  #anomaly(
    update: PayinUpdate,
    organizationId: string,
    payinId: string | null,
    detectedAnomaly: DetectedAnomaly,
  ): NewAnomaly {
    const { rail, reference } = update;
    return {
      ...detectedAnomaly,
      organizationId,
      id: this.#freshId(),
      payinId,
      payoutId: null,
      rail,
      reference,
      // With its money it is another thing than the rumour of it that came before.
      once: `${detectedAnomaly.kind}/${rail}/${onceName(detectedAnomaly, reference)}${detectedAnomaly.amount === null ? '' : '/money'}`,
    };
  }

  #input({ rail, notification, pastProcessingWindow }: PayinUpdate, payin: LockedPayin): OutcomeInput {
    const { capabilities } = this.#deps.rails[rail];
    return {
      status: this.#statusOf(payin),
      amount: cents(payin.amount_in_cents),
      expired: payin.expired,
      // Where we can close a collection, closing it is what makes sure; "not found" alone says too little.
      nothingUnderWay:
        capabilities.maxCloseBatch === 0 &&
        payin.pse_url === null &&
        (payin.sent_ms_ago === null || payin.sent_ms_ago >= capabilities.maxProcessingMs),
      opened: payin.pse_url !== null,
      amountPolicy: payin.amount_policy,
      link:
        payin.payment_link_id === null
          ? null
          : this.#waiting.has(nameOf(payin.organization_id, payin.payment_link_id))
            ? 'waiting'
            : 'ended',
      unverified: this.#isUnverified(payin)
        ? {
            executionId: payin.payment_execution_id,
            amount: cents(payin.confirmed_amount_in_cents ?? 0n),
            // Where a message led to asking, its age says nothing about the one that confirmed the payin.
            pastProcessingTime: notification === null && pastProcessingWindow,
          }
        : null,
      reversed: payin.settlement_status === 'REVERSED',
    };
  }

  /** CONFIRMED by a notification, and no status that we queried has listed the payment yet. */
  #isUnverified(payin: LockedPayin): boolean {
    return (
      payin.settlement_status === 'PENDING_SETTLEMENT' &&
      payin.payment_verified_at === null &&
      payin.settlement_released_at === null &&
      !this.isVerified(payin)
    );
  }

  #statusOf(payin: LockedPayin): PayinStatus {
    return this.#status.get(payin.id) ?? payin.status;
  }

  #freshId(): string {
    return uuidv7(this.#deps.clock.now(), this.#deps.cell);
  }
}

function causeId(rail: Rail, executionId: string): string {
  return `${rail}:${executionId}`;
}

/** Each held settlement has its own anomaly, also when two payins were confirmed by the same execution. */
function onceName({ kind, executionId }: DetectedAnomaly, reference: string): string {
  if (executionId === null) return reference;
  return kind === 'payment_not_listed' ? `${executionId}/${reference}` : executionId;
}

interface BookedExecutions {
  readonly booked: ReadonlySet<string>;
  readonly reversed: ReadonlySet<string>;
}

/** Which executions are in the ledger. One whose payment was reversed counts as booked only when it was relisted since. */
async function bookedExecutions(
  tx: Tx,
  updates: readonly PayinUpdate[],
  payins: readonly LockedPayin[],
): Promise<BookedExecutions> {
  const posted = await postedCauses(tx, 'payment', updates.flatMap(executionsOf));
  // Nearly all that is booked is the payment of a payin of this batch, and was not reversed: no query for those.
  const own = new Set(
    payins
      .filter((payin) => payin.settlement_status !== 'REVERSED')
      .map((payin) => causeId(payin.rail, payin.payment_execution_id ?? '')),
  );
  const others = [...posted].filter((id) => !own.has(id));
  const reversed = await postedCauses(tx, 'payment_reversal', others);
  for (const id of await postedCauses(tx, 'payment_relisted', [...reversed])) reversed.delete(id);
  return { booked: new Set([...posted].filter((id) => !reversed.has(id))), reversed };
}

function executionsOf({ rail, notification, railStatus }: PayinUpdate): string[] {
  const statusExecutionIds = railStatus?.payments.map((payment) => payment.executionId) ?? [];
  const notifiedExecutionIds = notification?.kind === 'paid' ? [notification.executionId] : [];
  return [...statusExecutionIds, ...notifiedExecutionIds].map((id) => causeId(rail, id));
}

/** Whose collections these are: by the key, or by what our reference at PSE says of itself. */
async function ownersOf(tx: Tx, updates: readonly PayinUpdate[]): Promise<Map<PayinUpdate, PayinKey>> {
  const byKey = await payinsOfKeys(
    tx,
    updates.filter(({ rail }) => rail === 'BRE_B').map(({ reference }) => reference),
  );
  const read = new Map(
    updates
      .filter(({ rail }) => rail === 'PSE')
      .map((update) => [update, readResourceReference(update.reference)]),
  );
  const numbers = [...read.values()].flatMap((named) => (named ? [named.organizationNumber] : []));
  const organizations = await organizationsByNumber(tx, numbers);
  const owners = new Map<PayinUpdate, PayinKey>();
  for (const update of updates) {
    const named = read.get(update);
    const organizationId = named ? organizations.get(named.organizationNumber) : undefined;
    const owner =
      named && organizationId !== undefined
        ? { organizationId, id: named.id }
        : byKey.get(update.rail === 'BRE_B' ? update.reference : '');
    if (owner) owners.set(update, owner);
  }
  return owners;
}

/** Links are locked after payins and before balances, by every transaction alike. */
async function waitingLinks(tx: Tx, payins: readonly LockedPayin[]): Promise<Set<string>> {
  const links = payins.flatMap(({ organization_id: organizationId, status, payment_link_id: id }) =>
    id === null || isFinal(status) ? [] : [{ organizationId, id }],
  );
  const rows = await lockLinks(tx, links);
  return new Set(
    rows.filter((row) => row.status === 'PENDING').map((row) => nameOf(row.organization_id, row.id)),
  );
}

/** A link is completed by its amount and by nothing less; the attempt is over either way. */
function endedAttempt(row: MovedPayin): EndedAttempt[] {
  if (row.payment_link_id === null) return [];
  const completes = row.settlement_status === 'PENDING_SETTLEMENT';
  return [{ organizationId: row.organization_id, id: row.payment_link_id, payinId: row.id, completes }];
}

function distinct(payins: readonly PayinKey[]): PayinKey[] {
  return [...new Map(payins.map((payin) => [nameOf(payin.organizationId, payin.id), payin])).values()];
}

/** A reference of ours may name a payin with somebody else's number: the two together say which row is meant. */
function nameOf(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}

const EVENT_OF = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
} as const;

/** The payins of a link have none: the link's own event tells of them. */
function eventsOf(deps: SystemDeps, moved: readonly MovedPayin[]): NewEvent[] {
  return moved
    .filter((row) => row.payment_link_id === null)
    .map((row) => ({
      id: uuidv7(deps.clock.now(), deps.cell),
      organizationId: row.organization_id,
      event: EVENT_OF[row.status as keyof typeof EVENT_OF],
      resource: 'payin',
      resourceId: row.id,
      createdAt: row.updated_at,
      // The customer is not part of it, so it stays closed.
      data: payinEventData(deps, row.organization_number, payinWithoutCustomer(row)),
    }));
}
