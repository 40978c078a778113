import { type Books, causesWithoutTransfer, type PayinRow, type PayoutRow, readBooks } from './books.ts';
import type { Hold } from './holds.ts';
import { type Breach, InvariantViolation } from './invariant-violation.ts';
import { acceptanceBreaches, heardAcceptanceBreaches } from './invariants/acceptance-invariants.ts';
import { anomalyBreaches } from './invariants/anomaly-invariants.ts';
import { heardBreaches, lastBreaches } from './invariants/heard-invariants.ts';
import { ledgerBreaches } from './invariants/ledger-invariants.ts';
import { orderBreaches } from './invariants/order-invariants.ts';
import { payinBreaches } from './invariants/payin-invariants.ts';
import { heardPayoutBreaches, lastPayoutBreaches } from './invariants/payout-heard-invariants.ts';
import { payoutBreaches } from './invariants/payout-invariants.ts';
import { payoutMoneyBreaches } from './invariants/payout-money-invariants.ts';
import type { KnownPayin } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import { Merchant } from './merchant.ts';
import type { Rail } from './step.ts';
import { isFinal, type View } from './view.ts';
import type { World } from './world.ts';

type Moment = 'any' | 'rest' | 'end';

/** One history under way: what was asked for and told so far, and the judgement over it. */
export class History {
  readonly world: World;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly merchants: readonly Merchant[];
  readonly since: string;
  readonly payins: KnownPayin[] = [];
  readonly payouts: KnownPayout[] = [];
  /** Anomalies that the merchant has accepted, and whether the acceptance was acknowledged. */
  readonly accepted = new Map<string, boolean>();
  /** A key that nobody else uses; null until it is first needed. */
  ownKey: string | null = null;
  /** Whether the organization's orders are kept back. */
  paused = false;
  readonly holds: Hold[] = [];
  /** Faults that keep a call hanging: let go before anything is waited for. */
  readonly hanging: string[] = [];
  /** While a fault holds a rail's notices back, they are not waited for. */
  readonly heldRails = new Set<Rail>();
  /** The notices that had been delivered when work last came to rest: what follows from them must be there. */
  heard: ReadonlySet<string> = new Set();
  readonly #finals = new Map<string, string>();
  readonly #confirmedSince = new Map<string, number>();
  readonly #promised = new Map<string, string>();

  private constructor(
    world: World,
    parts: Pick<History, 'organizationId' | 'organizationNumber' | 'merchants' | 'since'>,
  ) {
    this.world = world;
    this.organizationId = parts.organizationId;
    this.organizationNumber = parts.organizationNumber;
    this.merchants = parts.merchants;
    this.since = parts.since;
  }

  static async begin(world: World, funded: boolean): Promise<History> {
    const { organizationId, apiKey, number } = await world.nextOrganization();
    if (funded) await world.fund(organizationId);
    await world.control.clearFaults();
    await world.journal.begin();
    return new History(world, {
      organizationId,
      organizationNumber: number,
      merchants: world.stage.apis.map(({ url }) => new Merchant(url, apiKey)),
      since: (await world.now()).toISOString(),
    });
  }

  /** The payin that a step means; null while there is none. */
  payin(nth: number): KnownPayin | null {
    return this.payins[nth % Math.max(1, this.payins.length)] ?? null;
  }

  payout(nth: number): KnownPayout | null {
    return this.payouts.at(nth % Math.max(1, this.payouts.length)) ?? null;
  }

  merchant(api: number): Merchant {
    const merchant = this.merchants[api % this.merchants.length];
    if (!merchant) throw new Error('the stage has no API');
    return merchant;
  }

  async row(payinId: string): Promise<PayinRow | null> {
    return (await this.#read([payinId], [])).payins[0] ?? null;
  }

  async payoutRow(payoutId: string): Promise<PayoutRow | null> {
    return (await this.#read([], [payoutId])).payouts[0] ?? null;
  }

  #read(payinIds: readonly string[], payoutIds: readonly string[]): Promise<Books> {
    const { organizationId, since } = this;
    return readBooks(this.world.witness, { organizationId, since, payinIds, payoutIds });
  }

  /** @throws InvariantViolation with the first that is broken */
  async judge(moment: Moment): Promise<View> {
    // The journal is read on both sides of the books: what the rail knew to be stored before is in them, and what they
    // say that the rail did is in it after.
    const before = await this.world.journal.readOn();
    const acknowledged = [...before.notices.values()].filter((notice) => notice.acknowledged);
    const arrived = new Map(this.payouts.map(({ id }) => [id, before.orders.arrivalsOf(id).length]));
    const books = await this.#read(
      this.payins.map(({ id }) => id),
      this.payouts.map(({ id }) => id),
    );
    const facts = await this.world.journal.readOn();
    for (const { id, resolution } of books.payouts)
      if (resolution !== null && !this.#promised.has(id)) this.#promised.set(id, resolution);
    const view = {
      organizationId: this.organizationId,
      payins: this.payins,
      payouts: this.payouts,
      accepted: this.accepted,
      arrived,
      promised: this.#promised,
      books,
      facts,
      heard: this.heard,
    };
    const stored = new Set(books.notices);
    // The first that is told should be the one that says most.
    const breaches: Breach[] = [
      ...this.#absorbed(books),
      ...payinBreaches(view),
      ...orderBreaches(view),
      ...payoutBreaches(view),
      ...payoutMoneyBreaches(view),
      ...ledgerBreaches(view),
      ...anomalyBreaches(view),
      ...acceptanceBreaches(view),
      ...acknowledged
        .filter(({ noticeId }) => !stored.has(noticeId))
        .map((notice): Breach => ({ promise: 'stored', about: notice })),
    ];
    if (moment !== 'any')
      breaches.push(
        ...heardAcceptanceBreaches(view),
        ...heardBreaches(view, this.#confirmedSince),
        ...heardPayoutBreaches(view, this.#confirmedSince),
      );
    if (moment === 'end') {
      breaches.push(...lastBreaches(view), ...lastPayoutBreaches(view));
      const causes = await causesWithoutTransfer(this.world.witness);
      breaches.push(...causes.map((about): Breach => ({ promise: 'causes', about })));
    }
    const [first] = breaches;
    if (first) throw new InvariantViolation(first);
    if (moment !== 'any') this.#noteConfirmed(view);
    return view;
  }

  /** Every final state that was ever seen is still what it was. */
  #absorbed({ payins, payouts }: Books): Breach[] {
    const ends = [
      ...payins.map(({ id, status, confirmed, error, result_at }) => ({
        id,
        status,
        says: { confirmed, error, result_at },
      })),
      ...payouts.map(({ id, status, execution, error, result_at }) => ({
        id,
        status,
        says: { execution, error, result_at },
      })),
    ];
    return ends.flatMap(({ id, status, says }): Breach[] => {
      const seen = this.#finals.get(id);
      const now = JSON.stringify({ status, ...says });
      if (seen === undefined && isFinal(status)) this.#finals.set(id, now);
      return seen === undefined || seen === now ? [] : [{ promise: 'absorbs', about: { id, seen, now } }];
    });
  }

  #noteConfirmed({ books, facts }: View): void {
    for (const { id, status } of [...books.payins, ...books.payouts])
      if (status === 'CONFIRMED' && !this.#confirmedSince.has(id))
        this.#confirmedSince.set(id, facts.lastSeq);
  }
}
