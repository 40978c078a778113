import { causesWithoutTransfer, type PayinRow, readBooks } from './books.ts';
import { type Breach, BrokenPromise } from './broken-promise.ts';
import type { Hold } from './holds.ts';
import type { KnownPayin } from './known-payin.ts';
import { Merchant } from './merchant.ts';
import { anomalyBreaches } from './promises/anomaly-promises.ts';
import { heardBreaches, lastBreaches } from './promises/heard-promises.ts';
import { ledgerBreaches } from './promises/ledger-promises.ts';
import { payinBreaches } from './promises/payin-promises.ts';
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
  readonly holds: Hold[] = [];
  /** Faults that keep a call hanging: let go before anything is waited for. */
  readonly hanging: string[] = [];
  /** While a fault holds a rail's notices back, they are not waited for. */
  readonly heldRails = new Set<Rail>();
  /** The notices that had been delivered when work last came to rest: what follows from them must be there. */
  heard: ReadonlySet<string> = new Set();
  readonly #finals = new Map<string, string>();
  readonly #confirmedSince = new Map<string, number>();

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

  static async begin(world: World): Promise<History> {
    const { organizationId, apiKey, number } = await world.nextOrganization();
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

  merchant(api: number): Merchant {
    const merchant = this.merchants[api % this.merchants.length];
    if (!merchant) throw new Error('the stage has no API');
    return merchant;
  }

  async row(payinId: string): Promise<PayinRow | null> {
    const { organizationId, since } = this;
    const books = await readBooks(this.world.witness, { organizationId, since, payinIds: [payinId] });
    return books.payins[0] ?? null;
  }

  /** @throws BrokenPromise with the first that is broken */
  async judge(moment: Moment): Promise<View> {
    // The journal is read on both sides of the books: what the rail knew to be stored before is in them, and what they
    // say that the rail did is in it after.
    const before = await this.world.journal.readOn();
    const acknowledged = [...before.notices.values()].filter((notice) => notice.acknowledged);
    const books = await readBooks(this.world.witness, {
      organizationId: this.organizationId,
      since: this.since,
      payinIds: this.payins.map(({ id }) => id),
    });
    const facts = await this.world.journal.readOn();
    const view = {
      organizationId: this.organizationId,
      payins: this.payins,
      books,
      facts,
      heard: this.heard,
    };
    const stored = new Set(books.notices);
    // The first that is told should be the one that says most.
    const breaches: Breach[] = [
      ...this.#absorbed(books.payins),
      ...payinBreaches(view),
      ...ledgerBreaches(view),
      ...anomalyBreaches(view),
      ...acknowledged
        .filter(({ noticeId }) => !stored.has(noticeId))
        .map((notice): Breach => ({ promise: 'stored', about: notice })),
    ];
    if (moment !== 'any') breaches.push(...heardBreaches(view, this.#confirmedSince));
    if (moment === 'end') {
      breaches.push(...lastBreaches(view));
      const causes = await causesWithoutTransfer(this.world.witness);
      breaches.push(...causes.map((about): Breach => ({ promise: 'causes', about })));
    }
    const [first] = breaches;
    if (first) throw new BrokenPromise(first);
    if (moment !== 'any') this.#noteConfirmed(view);
    return view;
  }

  /** Every final state that was ever seen is still what it was. */
  #absorbed(rows: readonly PayinRow[]): Breach[] {
    return rows.flatMap((row): Breach[] => {
      const { id, status, confirmed, error, result_at } = row;
      const seen = this.#finals.get(id);
      const now = JSON.stringify({ status, confirmed, error, result_at });
      if (seen === undefined && isFinal(status)) this.#finals.set(id, now);
      return seen === undefined || seen === now ? [] : [{ promise: 'absorbs', about: { id, seen, now } }];
    });
  }

  #noteConfirmed({ books, facts }: View): void {
    for (const { id, status } of books.payins)
      if (status === 'CONFIRMED' && !this.#confirmedSince.has(id))
        this.#confirmedSince.set(id, facts.lastSeq);
  }
}
