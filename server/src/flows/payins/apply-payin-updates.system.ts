import { insertAnomalies, type NewAnomaly, resolveListed } from '../../anomalies/anomaly.store.ts';
import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { NewEvent } from '../../events/event.ts';
import { SYSTEM } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { type Cents, cents } from '../../kit/money.ts';
import { post, postedCauses } from '../../ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
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
  findPayinsByBrebKeys,
  type LockedPayin,
  lockPayins,
  reschedulePayins,
  type TransitionedPayin,
  transitionPayins,
} from '../../payins/payin-outcome.store.ts';
import { lockLinks } from '../../payment-links/payment-link-outcome.store.ts';
import type { CollectionStatus, Rail } from '../../rails/contract.ts';
import { linkEvents } from '../payment-links/link-events.ts';
import { LinkSums } from '../payment-links/link-sums.ts';
import {
  type ApplyOptions,
  distinctRows,
  findByReference,
  isPremature,
  type RailUpdate,
  toRowKey,
  type UpdateResult,
} from '../shared/rail-update.ts';

export type PayinUpdate = RailUpdate<Pick<CollectionStatus, 'state' | 'payments' | 'errorCode'>> & {
  /** An operator ends the payin if the rail lists no payment. */
  readonly operatorEnds?: boolean;
};

/**
 * Applies rail updates in the caller's transaction: final states with their history and events, transfers, anomalies.
 * Updates of the same payin are applied in order. Lock order of every transaction: payins first, balances last.
 */
export async function applyPayinUpdates(
  deps: SystemDeps,
  dataKeys: DataKeys,
  tx: Tx,
  updates: readonly PayinUpdate[],
  { leaseToken, conclude, onTraces }: ApplyOptions = {},
): Promise<UpdateResult[]> {
  const owners = await findOwners(tx, updates);
  const locked = await lockPayins(tx, distinctRows(owners.values()));
  const payins = new Map(locked.map((row) => [toRowKey(row.organization_id, row.id), row]));
  const links = await lockLinksOf(tx, locked);
  const outcome = new Outcome(deps, await readPostedExecutions(tx, updates, locked), links);
  const payinsOfUpdates = updates.map((update) => {
    const owner = owners.get(update);
    return owner ? (payins.get(toRowKey(owner.organizationId, owner.id)) ?? null) : null;
  });
  onTraces?.(payinsOfUpdates.map((payin) => payin?.trace_context ?? null));
  const results = updates.map((update, index) => outcome.apply(update, payinsOfUpdates[index] ?? null));

  const transitioned = await transitionPayins(tx, outcome.transitions, {
    settlementDelayMinutes: deps.settlementDelayMinutes,
    lastPollMs: lastPollMs(deps.rails.BRE_B.capabilities.maxProcessingMs),
  });
  const secrets = await dataKeys.loadInTransaction(
    tx,
    new Set(transitioned.map((row) => row.organization_id)),
  );
  const completed = await links.end(tx, transitioned);
  const getDataKey = (organizationId: string) => secrets(organizationId).dataKey;
  await recordFinalEvents(
    tx,
    [...toEvents(deps, transitioned, getDataKey), ...linkEvents(deps, completed, getDataKey)],
    getDataKey,
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
      endToEndId: outcome.verifiedEndToEndId(payin),
    })),
    { leaseToken: leaseToken ?? null, settlementDelayMinutes: deps.settlementDelayMinutes },
  );
  await conclude?.(results);
  await post(tx, outcome.transfers);
  outcome.logUnlistedPayments(raised);
  return results;
}

/** Collects the effects of a batch of updates, which are applied one after the other. */
class Outcome {
  readonly transitions: (RowId & Transition & { readonly from: PayinStatus })[] = [];
  readonly transfers: Transfer[] = [];
  readonly anomalies: NewAnomaly[] = [];
  readonly #verified = new Map<string, RowId & { readonly endToEndId: string | undefined }>();
  /** Payins that were queried after the processing time of their payment: the status is conclusive. */
  readonly #decided = new Set<string>();
  readonly #deps: SystemDeps;
  readonly #posted: Set<string>;
  /** Executions whose posting an operator reversed: they may be posted once more. */
  readonly #reversed: Set<string>;
  readonly #links: LinkSums;
  readonly #status = new Map<string, PayinStatus>();

  constructor(deps: SystemDeps, { posted, reversed }: PostedExecutions, links: LinkSums) {
    this.#deps = deps;
    this.#posted = new Set(posted);
    this.#reversed = new Set(reversed);
    this.#links = links;
  }

  /** The next rail task of a payin after these updates; null for none. */
  nextTask(payin: LockedPayin): RailTask | null {
    const { rail, now, rail_task: justDone } = payin;
    if (!isFinal(this.#currentStatus(payin)))
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

  /** Payins whose payment a queried status lists: they may settle. */
  get verified(): RowId[] {
    return [...this.#verified.values()];
  }

  isVerified({ id }: LockedPayin): boolean {
    return this.#verified.has(id);
  }

  /** The end-to-end id from the status that verified the payment. */
  verifiedEndToEndId({ id }: LockedPayin): string | undefined {
    return this.#verified.get(id)?.endToEndId;
  }

  /** Alerts operators: posted money may not exist. */
  logUnlistedPayments(raised: ReadonlySet<string>): void {
    for (const { organizationId, id, kind, payinId, rail } of this.anomalies)
      if (kind === 'payment_not_listed' && raised.has(id))
        this.#deps.log.error(
          { code: 'payment_not_listed', organizationId, anomalyId: id, payinId, rail },
          'rail does not list the payment of a confirmed payin; settlement held',
        );
  }

  apply(update: PayinUpdate, payin: LockedPayin | null): UpdateResult {
    const input = payin && { ...this.#input(update, payin), operatorEnds: update.operatorEnds === true };
    const isPosted = (executionId: string) => this.#posted.has(causeId(update.rail, executionId));
    const isReversed = (executionId: string) => this.#reversed.has(causeId(update.rail, executionId));
    const { notification, railStatus, pastProcessingWindow } = update;
    const premature = isPremature(update, (...args) => isConfirmedBy(input, ...args));
    const decision = railStatus
      ? decideFromStatus(input, railStatus, isPosted, premature ? null : notification)
      : notification
        ? decideFromNotification(input, notification, isPosted, isReversed)
        : 'duplicate';
    if (typeof decision === 'string') return decision;
    if (payin && notification === null && pastProcessingWindow) this.#decided.add(payin.id);
    this.#collect(update, payin, decision);
    if (premature) return 'needs_verification';
    if (decision.anomalies.some((detected) => detected.kind === 'unconfirmed')) return 'unconfirmed';
    return decision.transition === null && decision.postings.length + decision.anomalies.length === 0
      ? 'duplicate'
      : 'applied';
  }

  #collect(update: PayinUpdate, payin: LockedPayin | null, decision: Decision): void {
    const { transition, postings, anomalies, verifies, endToEndId } = decision;
    const organizationId = payin?.organization_id ?? OPERATOR_ORGANIZATION_ID;
    if (payin && verifies) this.#verified.set(payin.id, { organizationId, id: payin.id, endToEndId });
    if (payin && transition) {
      this.transitions.push({
        organizationId,
        id: payin.id,
        from: this.#currentStatus(payin),
        ...transition,
      });
      this.#status.set(payin.id, transition.to);
      this.#links.add(payin, transition);
      if (transition.earlierParts !== null)
        this.transfers.push(this.#earlierParts(payin, transition.earlierParts));
    }
    for (const posting of postings) {
      this.transfers.push(this.#transfer(update.rail, organizationId, payin?.id ?? null, posting));
      this.#posted.add(causeId(update.rail, posting.executionId));
      this.#reversed.delete(causeId(update.rail, posting.executionId));
    }
    for (const detected of anomalies)
      this.anomalies.push(this.#anomaly(update, organizationId, payin?.id ?? null, detected));
  }

  #transfer(rail: Rail, organizationId: string, payinId: string | null, posting: Posting): Transfer {
    const id = causeId(rail, posting.executionId);
    const kind = this.#reversed.has(id) ? 'payment_relisted' : 'payment';
    return {
      id: this.#newId(),
      organizationId,
      debit: CLEARING[rail],
      credit: posting.into,
      amount: posting.amount,
      cause: { kind: posting.excess ? 'payment_excess' : kind, id },
      resourceId: payinId,
      createdBy: SYSTEM,
    };
  }

  /** What earlier attempts of a link received becomes the merchant's when the link completes. */
  #earlierParts({ organization_id, id, payment_link_id }: LockedPayin, amount: Cents): Transfer {
    return {
      id: this.#newId(),
      organizationId: organization_id,
      debit: 'suspense',
      credit: 'pending',
      amount,
      cause: { kind: 'link_parts', id: payment_link_id ?? '' },
      resourceId: id,
      createdBy: SYSTEM,
    };
  }

  #anomaly(
    update: PayinUpdate,
    organizationId: string,
    payinId: string | null,
    detected: DetectedAnomaly,
  ): NewAnomaly {
    const { rail, reference } = update;
    return {
      ...detected,
      organizationId,
      id: this.#newId(),
      payinId,
      payoutId: null,
      rail,
      reference,
      // An anomaly with money is distinct from the earlier unconfirmed one.
      once: `${detected.kind}/${rail}/${toDeduplicationId(detected, reference)}${detected.amount === null ? '' : '/money'}`,
    };
  }

  #input({ rail, notification, pastProcessingWindow }: PayinUpdate, payin: LockedPayin): OutcomeInput {
    const { capabilities } = this.#deps.rails[rail];
    return {
      status: this.#currentStatus(payin),
      amount: cents(payin.amount_in_cents),
      expired: payin.expired,
      // Where we can close a collection, only closing it is conclusive; `not_found` alone is not.
      noOrderInFlight:
        capabilities.maxCloseBatch === 0 &&
        payin.pse_url === null &&
        (payin.sent_ms_ago === null || payin.sent_ms_ago >= capabilities.maxProcessingMs),
      opened: payin.pse_url !== null,
      amountPolicy: payin.amount_policy,
      link: this.#links.find(payin),
      unverified: this.#isUnverified(payin)
        ? {
            executionId: payin.payment_execution_id,
            amount: cents(payin.confirmed_amount_in_cents ?? 0n),
            // The age of the notification that led to the query is not that of the one that confirmed the payin.
            pastProcessingTime: notification === null && pastProcessingWindow,
          }
        : null,
      reversed: payin.settlement_status === 'REVERSED',
    };
  }

  /** CONFIRMED by a notification, and no queried status has listed the payment yet. */
  #isUnverified(payin: LockedPayin): boolean {
    return (
      payin.settlement_status === 'PENDING_SETTLEMENT' &&
      payin.payment_verified_at === null &&
      payin.settlement_released_at === null &&
      !this.isVerified(payin)
    );
  }

  #currentStatus(payin: LockedPayin): PayinStatus {
    return this.#status.get(payin.id) ?? payin.status;
  }

  #newId(): string {
    return uuidv7(this.#deps.clock.now(), this.#deps.cell);
  }
}

function causeId(rail: Rail, executionId: string): string {
  return `${rail}:${executionId}`;
}

/** Each held settlement has its own anomaly, even if the same execution confirmed two payins. */
function toDeduplicationId({ kind, executionId }: DetectedAnomaly, reference: string): string {
  if (executionId === null) return reference;
  return kind === 'payment_not_listed' ? `${executionId}/${reference}` : executionId;
}

interface PostedExecutions {
  readonly posted: ReadonlySet<string>;
  readonly reversed: ReadonlySet<string>;
}

/** Reads which executions are in the ledger. A reversed one counts as posted only if it was relisted since. */
async function readPostedExecutions(
  tx: Tx,
  updates: readonly PayinUpdate[],
  payins: readonly LockedPayin[],
): Promise<PostedExecutions> {
  const posted = await postedCauses(tx, 'payment', updates.flatMap(toExecutionIds));
  // Nearly all posted executions belong to payins of this batch that are not reversed: they need no further query.
  const own = new Set(
    payins
      .filter((payin) => payin.settlement_status !== 'REVERSED')
      .map((payin) => causeId(payin.rail, payin.payment_execution_id ?? '')),
  );
  const others = [...posted].filter((id) => !own.has(id));
  const reversed = await postedCauses(tx, 'payment_reversal', others);
  for (const id of await postedCauses(tx, 'payment_relisted', [...reversed])) reversed.delete(id);
  return { posted: new Set([...posted].filter((id) => !reversed.has(id))), reversed };
}

function toExecutionIds({ rail, notification, railStatus }: PayinUpdate): string[] {
  const statusExecutionIds = railStatus?.payments.map((payment) => payment.executionId) ?? [];
  const notifiedExecutionIds = notification?.kind === 'paid' ? [notification.executionId] : [];
  return [...statusExecutionIds, ...notifiedExecutionIds].map((id) => causeId(rail, id));
}

/** Finds the payin of each update: by the Bre-B key, or by the id encoded in our PSE reference. */
async function findOwners(tx: Tx, updates: readonly PayinUpdate[]): Promise<Map<PayinUpdate, RowId>> {
  const references = Map.groupBy(updates, ({ rail }) => rail);
  const toReference = ({ reference }: PayinUpdate) => reference;
  const found = {
    BRE_B: await findPayinsByBrebKeys(tx, references.get('BRE_B')?.map(toReference) ?? []),
    PSE: await findByReference(tx, references.get('PSE')?.map(toReference) ?? []),
  };
  return new Map(
    updates.flatMap((update) => {
      const owner = found[update.rail].get(update.reference);
      return owner ? [[update, owner] as const] : [];
    }),
  );
}

/** Locks the links whose attempts may end. Lock order of every transaction: payins, links, balances. */
async function lockLinksOf(tx: Tx, payins: readonly LockedPayin[]): Promise<LinkSums> {
  const links = payins.flatMap(({ organization_id: organizationId, status, payment_link_id: id }) =>
    id === null || isFinal(status) ? [] : [{ organizationId, id }],
  );
  return new LinkSums(await lockLinks(tx, distinctRows(links)));
}

const EVENT_BY_STATUS = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
} as const;

/** Payins of a link have no events: the link has its own event. */
function toEvents(
  deps: SystemDeps,
  transitioned: readonly TransitionedPayin[],
  getDataKey: (organizationId: string) => KeyRing,
): NewEvent[] {
  return transitioned
    .filter((row) => row.payment_link_id === null)
    .map((row) => ({
      id: uuidv7(deps.clock.now(), deps.cell),
      organizationId: row.organization_id,
      event: EVENT_BY_STATUS[row.status as keyof typeof EVENT_BY_STATUS],
      resource: 'payin',
      resourceId: row.id,
      createdAt: row.updated_at,
      // The event does not contain the customer, which therefore stays encrypted.
      data: payinEventData(
        deps,
        row.organization_number,
        payinWithoutCustomer(row, getDataKey(row.organization_id)),
      ),
      traceContext: row.trace_context,
    }));
}
