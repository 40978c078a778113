import { type Breach, InvariantViolation } from './invariant-violation.ts';
import { acceptanceBreaches, uncreditedBreaches } from './invariants/acceptance-invariants.ts';
import { anomalyBreaches } from './invariants/anomaly-invariants.ts';
import { ledgerBreaches } from './invariants/ledger-invariants.ts';
import { finalLinkBreaches, linkBreaches, unendedLinkBreaches } from './invariants/link-invariants.ts';
import { linkMoneyBreaches } from './invariants/link-money-invariants.ts';
import { finalBreaches, noticeBreaches } from './invariants/notice-invariants.ts';
import { orderBreaches } from './invariants/order-invariants.ts';
import { payinBreaches } from './invariants/payin-invariants.ts';
import { payoutBreaches } from './invariants/payout-invariants.ts';
import { payoutMoneyBreaches } from './invariants/payout-money-invariants.ts';
import { finalPayoutBreaches, payoutNoticeBreaches } from './invariants/payout-notice-invariants.ts';
import type { KnownLink } from './known-link.ts';
import type { KnownPayin } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import type { HeldLock } from './locks.ts';
import { Merchant } from './merchant.ts';
import { Payer } from './payer.ts';
import type { Rail } from './rail.ts';
import {
  causesWithoutTransfer,
  type PayinRow,
  type PayoutRow,
  readSnapshot,
  type Scope,
  type Snapshot,
} from './snapshot.ts';
import { isFinal, isFinalLink, type View } from './view.ts';
import type { World } from './world.ts';

type Moment = 'any' | 'idle' | 'end';

/** One running history: its requests and responses so far, and the checks of the invariants. */
export class History {
  readonly world: World;
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly merchants: readonly Merchant[];
  readonly since: string;
  readonly payins: KnownPayin[] = [];
  readonly payouts: KnownPayout[] = [];
  readonly links: KnownLink[] = [];
  /** Anomalies that the merchant has accepted, and whether the acceptance was acknowledged. */
  readonly accepted = new Map<string, boolean>();
  /** A key used only by this history; null until it is first needed. */
  ownKey: string | null = null;
  /** Whether the organization's orders are paused. */
  paused = false;
  readonly locks: HeldLock[] = [];
  /** Faults that make a call hang; removed before the history waits for anything. */
  readonly hanging: string[] = [];
  /** Rails whose notices a fault holds back; the history does not wait for these notices. */
  readonly heldRails = new Set<Rail>();
  /** The notices that had been delivered when the stack was last idle; their effects must be visible. */
  deliveredNotices: ReadonlySet<string> = new Set();
  readonly #finals = new Map<string, string>();
  readonly #confirmedSince = new Map<string, number>();
  readonly #initialResolutions = new Map<string, string>();

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

  static async start(world: World, funded: boolean): Promise<History> {
    const { organizationId, apiKey, number } = await world.nextOrganization();
    if (funded) await world.fund(organizationId);
    await world.control.clearFaults();
    await world.journal.start();
    return new History(world, {
      organizationId,
      organizationNumber: number,
      merchants: world.stack.apis.map(({ url }) => new Merchant(url, apiKey)),
      since: (await world.now()).toISOString(),
    });
  }

  /** The payin that a step refers to; null if there is none yet. */
  payin(nth: number): KnownPayin | null {
    return this.payins[nth % Math.max(1, this.payins.length)] ?? null;
  }

  payout(nth: number): KnownPayout | null {
    return this.payouts.at(nth % Math.max(1, this.payouts.length)) ?? null;
  }

  link(nth: number): KnownLink | null {
    return this.links.at(nth % Math.max(1, this.links.length)) ?? null;
  }

  payer(api: number): Payer {
    const { apis } = this.world.stack;
    return new Payer(apis[api % apis.length]?.url ?? '');
  }

  merchant(api: number): Merchant {
    const merchant = this.merchants[api % this.merchants.length];
    if (!merchant) throw new Error('the stack has no API');
    return merchant;
  }

  async row(payinId: string): Promise<PayinRow | null> {
    return (await this.#read({ payinIds: [payinId] })).payins[0] ?? null;
  }

  async payoutRow(payoutId: string): Promise<PayoutRow | null> {
    return (await this.#read({ payoutIds: [payoutId] })).payouts[0] ?? null;
  }

  /** A link with its attempts. */
  readLink(linkId: string): Promise<Snapshot> {
    const payinIds = this.payins.filter((payin) => payin.linkId === linkId).map(({ id }) => id);
    return this.#read({ linkIds: [linkId], payinIds });
  }

  #read(ids: Partial<Pick<Scope, 'payinIds' | 'payoutIds' | 'linkIds'>>): Promise<Snapshot> {
    const { organizationId, since } = this;
    const none = { payinIds: [], payoutIds: [], linkIds: [] };
    return readSnapshot(this.world.database, { organizationId, since, ...none, ...ids });
  }

  /** @throws InvariantViolation for the first violated invariant */
  async check(moment: Moment): Promise<View> {
    // Reads the journal before and after the snapshot: notices acknowledged before must be in the snapshot, and rail events
    // in the snapshot must be in the journal read after it.
    const before = await this.world.journal.readOn();
    const acknowledged = [...before.notices.values()].filter((notice) => notice.acknowledged);
    const arrived = new Map(this.payouts.map(({ id }) => [id, before.orders.arrivalsFor(id).length]));
    const snapshot = await this.#read({
      payinIds: this.payins.map(({ id }) => id),
      payoutIds: this.payouts.map(({ id }) => id),
      linkIds: this.links.map(({ id }) => id),
    });
    const facts = await this.world.journal.readOn();
    for (const { id, resolution } of snapshot.payouts)
      if (resolution !== null && !this.#initialResolutions.has(id))
        this.#initialResolutions.set(id, resolution);
    const view = {
      organizationId: this.organizationId,
      payins: this.payins,
      payouts: this.payouts,
      links: this.links,
      accepted: this.accepted,
      arrived,
      initialResolutions: this.#initialResolutions,
      snapshot,
      facts,
      deliveredNotices: this.deliveredNotices,
    };
    const stored = new Set(snapshot.notices);
    // The most specific invariants come first, since only the first violation is reported.
    const breaches: Breach[] = [
      ...this.#changedFinals(snapshot),
      ...linkBreaches(view),
      ...linkMoneyBreaches(view),
      ...payinBreaches(view),
      ...orderBreaches(view),
      ...payoutBreaches(view),
      ...payoutMoneyBreaches(view),
      ...ledgerBreaches(view),
      ...anomalyBreaches(view),
      ...acceptanceBreaches(view),
      ...acknowledged
        .filter(({ noticeId }) => !stored.has(noticeId))
        .map((notice): Breach => ({ invariant: 'acknowledged_notice_stored', about: notice })),
    ];
    if (moment !== 'any')
      breaches.push(
        ...uncreditedBreaches(view),
        ...noticeBreaches(view, this.#confirmedSince),
        ...payoutNoticeBreaches(view, this.#confirmedSince),
        ...unendedLinkBreaches(view),
      );
    if (moment === 'end') {
      breaches.push(...finalBreaches(view), ...finalPayoutBreaches(view), ...finalLinkBreaches(view));
      const causes = await causesWithoutTransfer(this.world.database);
      breaches.push(...causes.map((about): Breach => ({ invariant: 'one_transfer_per_cause', about })));
    }
    const [first] = breaches;
    if (first) throw new InvariantViolation(first);
    if (moment !== 'any') this.#noteConfirmed(view);
    return view;
  }

  /** A final status, once seen, does not change. */
  #changedFinals({ payins, payouts, links }: Snapshot): Breach[] {
    const ends = [
      ...payins.map(({ id, status, confirmed, error, result_at }) => ({
        id,
        status,
        result: { confirmed, error, result_at },
      })),
      ...payouts.map(({ id, status, execution, error, result_at }) => ({
        id,
        status,
        result: { execution, error, result_at },
      })),
      ...links.map(({ id, status, paid, payin }) => ({ id, status, result: { paid, payin } })),
    ];
    return ends.flatMap(({ id, status, result }): Breach[] => {
      const seen = this.#finals.get(id);
      const now = JSON.stringify({ status, ...result });
      if (seen === undefined && (isFinal(status) || isFinalLink(status))) this.#finals.set(id, now);
      return seen === undefined || seen === now
        ? []
        : [{ invariant: 'final_state_immutable', about: { id, seen, now } }];
    });
  }

  #noteConfirmed({ snapshot, facts }: View): void {
    for (const { id, status } of [...snapshot.payins, ...snapshot.payouts])
      if (status === 'CONFIRMED' && !this.#confirmedSince.has(id))
        this.#confirmedSince.set(id, facts.lastSeq);
  }
}
