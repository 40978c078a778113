import { insertAnomalies, type NewAnomaly, resolveListed } from '../anomalies/anomaly.store.ts';
import type { Tx } from '../db/tx.ts';
import type { SystemDeps } from '../deps.ts';
import { recordFinalEvents } from '../events/event.store.ts';
import type { NewEvent } from '../events/event.ts';
import { uuidv7 } from '../kit/ids.ts';
import { cents } from '../kit/money.ts';
import { readResourceReference } from '../kit/resource-reference.ts';
import { post, postedCauses } from '../ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../ledger/transfer.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import { organizationsByNumber } from '../organizations/organization.store.ts';
import { HOUSE_ID } from '../organizations/organization.ts';
import { payinEventData } from '../payins/payin.event.ts';
import {
  type Booking,
  type Judged,
  type Judgement,
  judgeMessage,
  judgeStanding,
  type Move,
  type Oddity,
  standsBy,
} from '../payins/payin.outcome.ts';
import {
  lastQuestionMs,
  lastTask,
  nextTask,
  type RailTask,
  verificationTask,
} from '../payins/payin.questions.ts';
import { isFinal, type PayinStatus } from '../payins/payin.states.ts';
import { payinWithoutCustomer } from '../payins/payin.store.ts';
import {
  type LockedPayin,
  lockPayins,
  type MovedPayin,
  movePayins,
  type PayinKey,
  payinsOfKeys,
  reschedulePayins,
} from '../payins/payin-outcome.store.ts';
import { type EndedAttempt, endAttempts, lockLinks } from '../payment-links/payment-link-outcome.store.ts';
import type { Rail, Standing } from '../rails/contract.ts';
import { linkEvents } from './link-events.ts';
import type { ApplyOptions, Word, WordResult } from './words.ts';

export type PayinWord = Word<Pick<Standing, 'state' | 'payments' | 'errorCode'>> & {
  /** Queried by an operator who ends the payin when the rail lists no payment. */
  readonly operatorEnds?: boolean;
};

/**
 * Makes of words what follows from them, all in the caller's transaction: final states with their history and event,
 * transfers, anomalies. Words of the same payin are taken in order. Payins are locked first and balances last, by every
 * transaction alike.
 */
export async function applyWords(
  deps: SystemDeps,
  keys: DataKeys,
  tx: Tx,
  words: readonly PayinWord[],
  { claimToken, conclude }: ApplyOptions,
): Promise<WordResult[]> {
  const owners = await ownersOf(tx, words);
  const locked = await lockPayins(tx, distinct([...owners.values()]));
  const payins = new Map(locked.map((row) => [nameOf(row.organization_id, row.id), row]));
  const waiting = await waitingLinks(tx, locked);
  const outcome = new Outcome(deps, await bookedExecutions(tx, words, locked), waiting);
  const results = words.map((word) => {
    const owner = owners.get(word);
    return outcome.hear(word, owner ? (payins.get(nameOf(owner.organizationId, owner.id)) ?? null) : null);
  });

  const moved = await movePayins(tx, outcome.moves, {
    settlementDelayMinutes: deps.settlementDelayMinutes,
    lastQuestionMs: lastQuestionMs(deps.rails.BRE_B.abilities.longestProcessingMs),
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
    { claimToken, settlementDelayMinutes: deps.settlementDelayMinutes },
  );
  await conclude(results);
  await post(tx, outcome.transfers);
  outcome.alarm(raised);
  return results;
}

/** What a batch of words comes to, gathered while they are heard one after the other. */
class Outcome {
  readonly moves: (PayinKey & Move & { readonly from: PayinStatus })[] = [];
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
    const { longestProcessingMs } = this.#deps.rails[rail].abilities;
    if (!reversed && !this.#isUnverified(payin))
      return lastTask(rail, { ...ended, justDone, longestProcessingMs });
    return verificationTask({
      ...ended,
      longestProcessingMs,
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

  hear(word: PayinWord, payin: LockedPayin | null): WordResult {
    const judged = payin && { ...this.#judged(word, payin), operatorEnds: word.operatorEnds === true };
    const isBooked = (executionId: string) => this.#booked.has(causeId(word.rail, executionId));
    const isReversed = (executionId: string) => this.#reversed.has(causeId(word.rail, executionId));
    const { told, standing, toldLongAgo } = word;
    // The answer may be older than the message: what else it says holds, but the message is not done with yet.
    const early = standing !== null && told !== null && !toldLongAgo && !standsBy(judged, standing, told);
    const judgement = standing
      ? judgeStanding(judged, standing, isBooked, early ? null : told)
      : told
        ? judgeMessage(judged, told, isBooked, isReversed)
        : 'known';
    if (typeof judgement === 'string') return judgement;
    if (payin && told === null && toldLongAgo) this.#decided.add(payin.id);
    this.#take(word, payin, judgement);
    if (early) return 'doubtful';
    if (judgement.oddities.some((oddity) => oddity.kind === 'unfounded')) return 'unfounded';
    return judgement.move === null && judgement.bookings.length + judgement.oddities.length === 0
      ? 'known'
      : 'applied';
  }

  #take(word: PayinWord, payin: LockedPayin | null, judgement: Judgement): void {
    const { move, bookings, oddities, verifies, endToEndId } = judgement;
    const organizationId = payin?.organization_id ?? HOUSE_ID;
    if (payin && verifies) this.#verified.set(payin.id, { organizationId, id: payin.id, endToEndId });
    if (payin && move) {
      this.moves.push({ organizationId, id: payin.id, from: this.#statusOf(payin), ...move });
      this.#status.set(payin.id, move.to);
    }
    for (const booking of bookings) {
      this.transfers.push(this.#transfer(word.rail, organizationId, payin?.id ?? null, booking));
      this.#booked.add(causeId(word.rail, booking.executionId));
      this.#reversed.delete(causeId(word.rail, booking.executionId));
    }
    for (const oddity of oddities)
      this.anomalies.push(this.#anomaly(word, organizationId, payin?.id ?? null, oddity));
  }

  #transfer(rail: Rail, organizationId: string, payinId: string | null, booking: Booking): Transfer {
    const id = causeId(rail, booking.executionId);
    const kind = this.#reversed.has(id) ? 'payment_relisted' : 'payment';
    return {
      id: this.#freshId(),
      organizationId,
      debit: CLEARING[rail],
      credit: booking.into,
      amount: booking.amount,
      cause: { kind: booking.excess ? 'payment_excess' : kind, id },
      resourceId: payinId,
    };
  }

  #anomaly(word: PayinWord, organizationId: string, payinId: string | null, oddity: Oddity): NewAnomaly {
    const { rail, reference } = word;
    return {
      ...oddity,
      organizationId,
      id: this.#freshId(),
      payinId,
      payoutId: null,
      rail,
      reference,
      // With its money it is another thing than the rumour of it that came before.
      once: `${oddity.kind}/${rail}/${onceName(oddity, reference)}${oddity.amount === null ? '' : '/money'}`,
    };
  }

  #judged({ rail, told, toldLongAgo }: PayinWord, payin: LockedPayin): Judged {
    const { abilities } = this.#deps.rails[rail];
    return {
      status: this.#statusOf(payin),
      amount: cents(payin.amount_in_cents),
      expired: payin.expired,
      // Where we can close a collection, closing it is what makes sure; "not found" alone says too little.
      nothingUnderWay:
        abilities.closeAtOnce === 0 &&
        payin.pse_url === null &&
        (payin.sent_ms_ago === null || payin.sent_ms_ago >= abilities.longestProcessingMs),
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
            pastProcessingTime: told === null && toldLongAgo,
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
function onceName({ kind, executionId }: Oddity, reference: string): string {
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
  words: readonly PayinWord[],
  payins: readonly LockedPayin[],
): Promise<BookedExecutions> {
  const posted = await postedCauses(tx, 'payment', words.flatMap(executionsOf));
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

function executionsOf({ rail, told, standing }: PayinWord): string[] {
  const standingIds = standing?.payments.map((payment) => payment.executionId) ?? [];
  const toldIds = told?.kind === 'paid' ? [told.executionId] : [];
  return [...standingIds, ...toldIds].map((id) => causeId(rail, id));
}

/** Whose collections these are: by the key, or by what our reference at PSE says of itself. */
async function ownersOf(tx: Tx, words: readonly PayinWord[]): Promise<Map<PayinWord, PayinKey>> {
  const byKey = await payinsOfKeys(
    tx,
    words.filter(({ rail }) => rail === 'BRE_B').map(({ reference }) => reference),
  );
  const read = new Map(
    words.filter(({ rail }) => rail === 'PSE').map((word) => [word, readResourceReference(word.reference)]),
  );
  const numbers = [...read.values()].flatMap((named) => (named ? [named.organizationNumber] : []));
  const organizations = await organizationsByNumber(tx, numbers);
  const owners = new Map<PayinWord, PayinKey>();
  for (const word of words) {
    const named = read.get(word);
    const organizationId = named ? organizations.get(named.organizationNumber) : undefined;
    const owner =
      named && organizationId !== undefined
        ? { organizationId, id: named.id }
        : byKey.get(word.rail === 'BRE_B' ? word.reference : '');
    if (owner) owners.set(word, owner);
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
