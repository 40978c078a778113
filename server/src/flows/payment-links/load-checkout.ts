import { anomaliesOfPayin } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import type { SealedTokens } from '../../kit/sealed-token.ts';
import type { Shop, Shops } from '../../organizations/shops.ts';
import { isSuspended } from '../../organizations/suspension.store.ts';
import { payinOf } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { findPagePayin, latestAttempt, type PageRow } from '../../payins/payin-page.store.ts';
import { findLinks, linkOf } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';

/** A payin as its payer sees it. */
export interface PagePayin {
  readonly payin: Payin;
  /** Money of a direct payin that is not part of its confirmed amount, in the order it arrived. */
  readonly suspended: readonly SuspendedMoney[];
}

/** Money that arrived and was held apart, and what has become of it. */
export interface SuspendedMoney {
  readonly kind: Anomaly['kind'];
  readonly amount: bigint;
  readonly state: 'held' | 'credited' | 'returned';
}

/** What a payer's page is about: a link with its last attempt, or a payin of its own. */
export type CheckoutState = {
  readonly shop: Shop;
  /** By the database's clock. */
  readonly now: Date;
} & (
  | {
      readonly link: PaymentLink;
      readonly attempt: PagePayin | null;
      /** No new attempt begins; one that is under way goes on. */
      readonly suspended: boolean;
    }
  | { readonly link: null; readonly attempt: PagePayin }
);

type CheckoutDeps = Pick<Deps, 'read' | 'linkTokens' | 'checkoutTokens' | 'receiptTokens'>;

/** @returns null for an address that we never gave to anybody, or that names nothing */
export async function loadLinkCheckout(
  deps: CheckoutDeps,
  shops: Shops,
  token: string,
): Promise<CheckoutState | null> {
  const subject = deps.linkTokens.read(token);
  const shop = subject && (await shops.find(subject.organizationNumber));
  if (!subject || !shop) return null;
  const { id: organizationId } = shop.organization;
  return deps.read.read(organizationId, async (tx) => {
    const [row] = await findLinks(tx, [{ organizationId, id: subject.id }]);
    if (!row) return null;
    const current = row.open_payin_id ?? row.payin_id;
    const attempt =
      current === null
        ? await latestAttempt(tx, organizationId, row.id)
        : await findPagePayin(tx, organizationId, current);
    const link = linkOf(row, shop.secrets.dataKey);
    const suspended = await isSuspended(tx, organizationId);
    return { shop, now: row.now, link, attempt: attempt && pagePayin(shop, attempt, []), suspended };
  });
}

/** @returns null for an address that we never gave to anybody, or that names nothing */
export function loadPayinCheckout(
  deps: CheckoutDeps,
  shops: Shops,
  token: string,
): Promise<CheckoutState | null> {
  return loadSubject(deps, shops, deps.checkoutTokens.read(token));
}

/** The address of a receipt is another secret than that of the page: it may be shown to anybody. */
export function loadReceipt(deps: CheckoutDeps, shops: Shops, token: string): Promise<CheckoutState | null> {
  return loadSubject(deps, shops, deps.receiptTokens.read(token));
}

async function loadSubject(
  deps: CheckoutDeps,
  shops: Shops,
  subject: ReturnType<SealedTokens['read']>,
): Promise<CheckoutState | null> {
  const shop = subject && (await shops.find(subject.organizationNumber));
  if (!subject || !shop) return null;
  const { id: organizationId } = shop.organization;
  return deps.read.read(organizationId, async (tx) => {
    const row = await findPagePayin(tx, organizationId, subject.id);
    if (!row) return null;
    const suspended = row.payment_link_id === null ? await suspendedMoney(tx, organizationId, row.id) : [];
    return { shop, now: row.now, link: null, attempt: pagePayin(shop, row, suspended) };
  });
}

async function suspendedMoney(tx: Tx, organizationId: string, payinId: string): Promise<SuspendedMoney[]> {
  const anomalies = await anomaliesOfPayin(tx, organizationId, payinId);
  return anomalies.flatMap(({ kind, amount, resolution }) =>
    amount === null
      ? []
      : [
          {
            kind,
            amount,
            state: resolution === null ? 'held' : resolution === 'return' ? 'returned' : 'credited',
          },
        ],
  );
}

function pagePayin({ secrets }: Shop, row: PageRow, suspended: readonly SuspendedMoney[]): PagePayin {
  return { payin: payinOf(row, secrets.dataKey), suspended };
}
