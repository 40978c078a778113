import { anomaliesOfPayins } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import type { EncryptedTokens } from '../../kit/encrypted-token.ts';
import type { Shop, Shops } from '../../organizations/shops.ts';
import { isSuspended } from '../../organizations/suspension.store.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import {
  attemptsOfLink,
  findPagePayin,
  type PageRow,
  readPageStamps,
} from '../../payins/payin-page.store.ts';
import { findLinks, linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';

/** A payin as shown to its payer. */
export interface PagePayin {
  readonly payin: Payin;
  /** Money that arrived for it and is not part of its confirmed amount, in order of arrival. */
  readonly suspended: readonly SuspendedMoney[];
}

/** Money that arrived but was held separately, and its current state. */
export interface SuspendedMoney {
  readonly kind: Anomaly['kind'];
  readonly amount: bigint;
  readonly state: 'held' | 'credited' | 'returned';
}

/** The data of a checkout page: a link with its attempts, or a payin without a link. */
export type CheckoutState = {
  readonly shop: Shop;
  /** Database time. */
  readonly now: Date;
  /** Changes whenever the page must change; null without an attempt. */
  readonly stamp: string | null;
} & (
  | {
      readonly link: PaymentLink;
      /** Newest first. */
      readonly attempts: readonly PagePayin[];
      /** The newest attempt. */
      readonly attempt: PagePayin | null;
      /** The organization is suspended: no new attempt can start, but an open one continues. */
      readonly suspended: boolean;
    }
  | { readonly link: null; readonly attempts: readonly PagePayin[]; readonly attempt: PagePayin }
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
    const attempts = await pagePayins(tx, shop, await attemptsOfLink(tx, organizationId, row.id));
    const link = linkFromRow(row, shop.secrets.dataKey);
    const suspended = await isSuspended(tx, organizationId);
    const [attempt = null] = attempts;
    return { shop, now: row.now, stamp: await readStamp(tx, attempt), link, attempts, attempt, suspended };
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
    const [attempt] = await pagePayins(tx, shop, [row]);
    if (!attempt) return null;
    const stamp = await readStamp(tx, attempt);
    return { shop, now: row.now, stamp, link: null, attempts: [attempt], attempt };
  });
}

async function readStamp(tx: Tx, attempt: PagePayin | null): Promise<string | null> {
  const [stamp = null] = attempt ? await readPageStamps(tx, [attempt.payin]) : [];
  return stamp;
}

async function pagePayins(tx: Tx, shop: Shop, rows: readonly PageRow[]): Promise<PagePayin[]> {
  const anomalies = await anomaliesOfPayins(
    tx,
    shop.organization.id,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    payin: payinFromRow(row, shop.secrets.dataKey),
    suspended: anomalies.filter(({ payinId }) => payinId === row.id).flatMap(toSuspendedMoney),
  }));
}

function toSuspendedMoney({ kind, amount, resolution }: Anomaly): SuspendedMoney[] {
  if (amount === null) return [];
  const state = resolution === null ? 'held' : resolution === 'return' ? 'returned' : 'credited';
  return [{ kind, amount, state }];
}
