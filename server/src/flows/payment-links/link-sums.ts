import type { Tx } from '../../db/tx.ts';
import { type Cents, cents } from '../../kit/money.ts';
import type { LinkSum, Transition } from '../../payins/payin.outcome.ts';
import { closeUnlocked } from '../../payins/payin-closing.store.ts';
import type { LockedPayin, TransitionedPayin } from '../../payins/payin-outcome.store.ts';
import type { LinkRow } from '../../payment-links/payment-link.store.ts';
import {
  type EndedAttempts,
  endAttempts,
  type LockedLink,
} from '../../payment-links/payment-link-outcome.store.ts';
import { toRowKey } from '../shared/rail-update.ts';

/** What the attempts of locked links have received, while a batch of updates is applied. */
export class LinkSums {
  readonly #links: ReadonlyMap<string, LockedLink>;
  readonly #open: Map<string, LinkSum>;

  constructor(locked: readonly LockedLink[]) {
    this.#links = new Map(locked.map((link) => [toRowKey(link.organization_id, link.id), link]));
    this.#open = new Map(
      [...this.#links]
        .filter(([, link]) => link.status === 'PENDING')
        .map(([key, link]) => [key, toSum(link.amount_in_cents, link.paid_in_cents)]),
    );
  }

  /** Null for a direct payin. */
  find({ organization_id, payment_link_id }: LockedPayin): LinkSum | 'ended' | null {
    if (payment_link_id === null) return null;
    return this.#open.get(toRowKey(organization_id, payment_link_id)) ?? 'ended';
  }

  add({ organization_id, payment_link_id }: LockedPayin, { settles, confirmedAmount }: Transition): void {
    if (payment_link_id === null || confirmedAmount === null) return;
    const key = toRowKey(organization_id, payment_link_id);
    const sum = this.#open.get(key);
    if (!sum) return;
    if (settles) this.#open.delete(key);
    else
      this.#open.set(key, {
        paid: cents(sum.paid + confirmedAmount),
        missing: cents(sum.missing - confirmedAmount),
      });
  }

  /**
   * Ends the attempts of links and completes links whose sum reaches the amount. The other attempt of a completed link is
   * closed if it is a Bre-B key; otherwise its payment becomes an anomaly.
   * @returns the completed links
   */
  async end(tx: Tx, transitioned: readonly TransitionedPayin[]): Promise<LinkRow[]> {
    const ofLinks = transitioned.filter((row) => row.payment_link_id !== null);
    const byLink = Map.groupBy(ofLinks, (row) => toRowKey(row.organization_id, row.payment_link_id ?? ''));
    const completed = await endAttempts(tx, [...byLink.values()].flatMap(toEndedAttempts));
    await closeUnlocked(
      tx,
      completed.flatMap(({ organization_id: organizationId, id, payin_id: paidBy }) => {
        const other = this.#links.get(toRowKey(organizationId, id))?.open_breb_payin_id ?? null;
        return other === null || other === paidBy ? [] : [{ organizationId, id: other }];
      }),
    );
    return completed;
  }
}

function toSum(amount: Cents, paid: Cents): LinkSum {
  return { paid, missing: cents(amount - paid) };
}

function toEndedAttempts(attempts: readonly TransitionedPayin[]): EndedAttempts[] {
  const [first] = attempts;
  if (!first || first.payment_link_id === null) return [];
  const counted = attempts.filter((row) => row.settlement_status !== null || row.error_code === 'UNDERPAID');
  return [
    {
      organizationId: first.organization_id,
      id: first.payment_link_id,
      brebPayinId: attempts.find((row) => row.rail === 'BRE_B')?.id ?? null,
      psePayinId: attempts.find((row) => row.rail === 'PSE')?.id ?? null,
      paid: cents(counted.reduce((sum, row) => sum + (row.confirmed_amount_in_cents ?? 0n), 0n)),
      payinId: attempts.find((row) => row.settlement_status !== null)?.id ?? null,
    },
  ];
}
