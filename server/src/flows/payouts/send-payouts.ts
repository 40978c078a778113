import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { payBackLookups } from '../../payouts/lookup-bucket.store.ts';
import { FIRST_POLL_MS, LEAVES_WITHIN_MS, RESOLUTION_MARGIN_MS } from '../../payouts/payout.polling.ts';
import {
  type AttemptAnswer,
  commitAttempts,
  type DueOrder,
  recordAnswers,
  waitingOrganizations,
} from '../../payouts/payout-send.store.ts';
import { openReceiver } from '../../payouts/receiver.seal.ts';
import type { PayOrder, RailAnswer } from '../../rails/contract.ts';
import { isolateFailures, POSTPONE_MS } from '../shared/isolate-failures.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { applyPayoutUpdates, type PayoutUpdate } from './apply-payout-updates.ts';

/** So old a claim may be when its orders leave: the call itself must end before others may think it never began. */
const SENT_WITHIN_MS = LEAVES_WITHIN_MS - 6000;

const ORGANIZATIONS_AT_ONCE = 50;
/** Before all organizations. */
const FIRST = '00000000-0000-0000-0000-000000000000';

interface Sent {
  readonly due: DueOrder;
  readonly answer: RailAnswer<'accepted' | 'duplicate'>;
  readonly askAfterMs: number;
}

/**
 * Sends payouts, many in one call. That an order leaves is committed before it does; what became of it is written down
 * after. Whatever dies in between leaves a payout whose outcome is unknown, and the rail is asked about it.
 */
export class PayoutSender {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #caller: RailCaller;
  readonly #answers: Counter;
  /** The organization that was last served. */
  #after = FIRST;

  constructor(deps: SystemDeps, keys: DataKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#caller = new RailCaller(deps, 'BRE_B', 3);
    this.#answers = deps.metrics.counter(
      'caudal_payout_attempts_total',
      'Orders that left for the rail, by what it answered.',
    );
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** @returns how many were due; call again at once while there are any */
  async send(): Promise<number> {
    const { railPauses, payoutRail, system } = this.#deps;
    if (this.#caller.resting || railPauses.allPaused('BRE_B')) return 0;
    const { maxPayBatch, resolutionMs } = payoutRail.capabilities;
    const leaseToken = freshToken();
    const since = monotonicMs();
    const limit = this.#caller.atMost(maxPayBatch);
    const due = await system.transaction('commit attempts', async (tx) => {
      const organizations = await this.#nextOrganizations(tx, limit);
      const each = Math.ceil(limit / Math.max(1, organizations.length));
      const orders = await commitAttempts(
        tx,
        leaseToken,
        organizations,
        each,
        resolutionMs - RESOLUTION_MARGIN_MS,
      );
      // A lookup that is followed by a payout costs nothing: now it is.
      await payBackLookups(
        tx,
        orders.flatMap(({ organizationId, attempt, lookupId }) =>
          attempt === 1 && lookupId !== null ? [{ organizationId, id: lookupId }] : [],
        ),
      );
      return orders;
    });
    if (due.length === 0) return 0;
    const sent = await this.#pay(due, since);
    await this.#record(sent, leaseToken).catch((error: unknown) =>
      isolateFailures(
        error,
        sent,
        (each) => this.#record([each], leaseToken),
        async ({ due: { id } }, alone) =>
          this.#deps.log.error(
            { ...errorFields(alone), payoutId: id },
            'what a rail answered cannot be applied',
          ),
      ),
    );
    return due.length;
  }

  /** In turn, so that nobody stands behind another's payroll. */
  async #nextOrganizations(tx: Tx, limit: number): Promise<string[]> {
    const excludedOrganizations = this.#deps.railPauses.pausedOrganizations('BRE_B');
    const count = Math.min(limit, ORGANIZATIONS_AT_ONCE);
    const next = await waitingOrganizations(tx, this.#after, excludedOrganizations, count);
    if (next.length < count && this.#after !== FIRST) {
      const more = await waitingOrganizations(tx, FIRST, excludedOrganizations, count - next.length);
      next.push(...more.filter((id) => !next.includes(id)));
    }
    this.#after = next.at(-1) ?? FIRST;
    return next;
  }

  async #pay(due: readonly DueOrder[], since: number): Promise<Sent[]> {
    const secrets = await this.#keys.of(new Set(due.map((order) => order.organizationId)));
    const ready: { due: DueOrder; order: PayOrder }[] = [];
    const aside: Sent[] = [];
    for (const each of due) {
      try {
        const { dataKey } = secrets(each.organizationId);
        const key = openReceiver(dataKey, each.sealedReceiver, each.organizationId, each.id);
        ready.push({ due: each, order: orderOf(each, key) });
      } catch (error) {
        this.#deps.log.error(
          { ...errorFields(error), payoutId: each.id },
          'the receiver of a payout does not open',
        );
        aside.push({ due: each, answer: unsent('its receiver does not open'), askAfterMs: POSTPONE_MS });
      }
    }
    // A process that slept leaves them alone: by now somebody may have asked about them and sent them anew.
    if (monotonicMs() - since > SENT_WITHIN_MS)
      return [...aside, ...ready.map((each) => sentOf(each.due, unsent('it was too late to send it')))];
    const answers = await this.#caller.call(
      'pay',
      ready.map(({ order }) => order),
      (orders) => this.#deps.payoutRail.pay(orders),
    );
    for (const answer of answers) this.#answers.add({ answer: answer.kind });
    return [
      ...aside,
      ...ready.map((each, index) =>
        sentOf(each.due, answers[index] ?? unsent('the rail did not answer for it')),
      ),
    ];
  }

  #record(sent: readonly Sent[], leaseToken: string): Promise<unknown> {
    return this.#deps.system.transaction('record attempts', async (tx) => {
      // In the order in which everybody locks payouts.
      await recordAnswers(tx, sent.map(answerOf).toSorted(byRow), leaseToken);
      const updates = sent.flatMap(({ due, answer }): PayoutUpdate[] =>
        answer.kind === 'no'
          ? [
              {
                rail: 'BRE_B',
                reference: due.endToEndId,
                notification: { kind: 'refused', errorCode: answer.errorCode },
                railStatus: null,
                pastProcessingWindow: false,
              },
            ]
          : [],
      );
      await applyPayoutUpdates(this.#deps, this.#keys, tx, updates, {
        leaseToken: null,
        conclude: async () => undefined,
      });
    });
  }
}

function orderOf(due: DueOrder, key: string): PayOrder {
  return {
    endToEndId: due.endToEndId,
    payoutId: due.id,
    amount: due.amount,
    key,
    resolutionId: due.resolutionId,
    payerName: due.organizationName,
  };
}

function unsent(cause: string): RailAnswer<never> {
  return { kind: 'unknown', cause };
}

function sentOf(due: DueOrder, answer: RailAnswer<'accepted' | 'duplicate'>): Sent {
  return { due, answer, askAfterMs: askAfterMs(due, answer) };
}

function askAfterMs({ attempt }: DueOrder, answer: RailAnswer<'accepted' | 'duplicate'>): number {
  // Accepted: its notice is under way. Known: it may have ended before, and its notice been heard or lost.
  if (answer.kind === 'yes') return answer.value === 'accepted' ? FIRST_POLL_MS : 1000;
  return answer.kind === 'no' ? 0 : backoffMs(attempt, 2000, 60_000);
}

function byRow(a: AttemptAnswer, b: AttemptAnswer): number {
  const [one, other] = [a.organizationId + a.id, b.organizationId + b.id];
  return one < other ? -1 : one > other ? 1 : 0;
}

function answerOf({ due, answer, askAfterMs }: Sent): AttemptAnswer {
  const { organizationId, id, attempt } = due;
  return {
    organizationId,
    id,
    attempt,
    answer: answer.kind === 'yes' ? answer.value : answer.kind === 'no' ? 'refused' : 'unknown',
    errorCode: answer.kind === 'no' ? answer.errorCode : null,
    reason: answer.kind === 'no' ? answer.railCode : answer.kind === 'unknown' ? answer.cause : null,
    askAfterMs,
  };
}
