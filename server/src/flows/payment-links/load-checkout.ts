import { anomaliesOfPayin } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import type { EncryptedTokens } from '../../kit/encrypted-token.ts';
import type { Shop, Shops } from '../../organizations/shops.ts';
import { isSuspended } from '../../organizations/suspension.store.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { findPagePayin, latestAttempt, type PageRow } from '../../payins/payin-page.store.ts';
import { findLinks, linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';

/** A payin as shown to its payer. */
export interface PagePayin {
  readonly payin: Payin;
  /** Money beyond the confirmed amount, in order of arrival. Only for payins without a link. */
  readonly suspended: readonly SuspendedMoney[];
}

/** Money that arrived but was held separately, and its current state. */
export interface SuspendedMoney {
  readonly kind: Anomaly['kind'];
  readonly amount: bigint;
  readonly state: 'held' | 'credited' | 'returned';
}

/** The data of a checkout page: a link with its last attempt, or a payin without a link. */
export type CheckoutState = {
  readonly shop: Shop;
  /** Database time. */
  readonly now: Date;
} & (
  | {
      readonly link: PaymentLink;
      readonly attempt: PagePayin | null;
      /** The organization is suspended: no new attempt can start, but an open one continues. */
      readonly suspended: boolean;
    }
  | { readonly link: null; readonly attempt: PagePayin }
);

type CheckoutDeps = Pick<Deps, 'read' | 'linkTokens' | 'checkoutTokens' | 'receiptTokens'>;

/** @returns null if the token is invalid or its resource does not exist */
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
    const link = linkFromRow(row, shop.secrets.dataKey);
    const suspended = await isSuspended(tx, organizationId);
    return { shop, now: row.now, link, attempt: attempt && pagePayin(shop, attempt, []), suspended };
  });
}

/** @returns null if the token is invalid or its resource does not exist */
export function loadPayinCheckout(
  deps: CheckoutDeps,
  shops: Shops,
  token: string,
): Promise<CheckoutState | null> {
  return loadSubject(deps, shops, deps.checkoutTokens.read(token));
}

/** A receipt has its own token, different from the page's token, because payers share receipts. */
export function loadReceipt(deps: CheckoutDeps, shops: Shops, token: string): Promise<CheckoutState | null> {
  return loadSubject(deps, shops, deps.receiptTokens.read(token));
}

async function loadSubject(
  deps: CheckoutDeps,
  shops: Shops,
  subject: ReturnType<EncryptedTokens['read']>,
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
  return { payin: payinFromRow(row, secrets.dataKey), suspended };
}
