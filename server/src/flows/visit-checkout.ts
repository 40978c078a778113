import type { Deps } from '../deps.ts';
import type { SealedTokens } from '../kit/sealed-token.ts';
import type { Shop, Shops } from '../organizations/shops.ts';
import { payinOf } from '../payins/payin.store.ts';
import type { Payin } from '../payins/payin.ts';
import { findPagePayin, latestAttempt, type PageRow } from '../payins/payin-page.store.ts';
import { findLinks, linkOf } from '../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../payment-links/payment-link.ts';

/** A payin as its payer sees it. */
export interface PagePayin {
  readonly payin: Payin;
  /** PSE's number of the transaction. */
  readonly cus: string | null;
}

/** What a payer's page is about: a link with its last attempt, or a payin of its own. */
export type Visit = {
  readonly shop: Shop;
  /** By the database's clock. */
  readonly now: Date;
} & (
  | { readonly link: PaymentLink; readonly attempt: PagePayin | null }
  | { readonly link: null; readonly attempt: PagePayin }
);

type VisitDeps = Pick<Deps, 'read' | 'linkTokens' | 'checkoutTokens' | 'receiptTokens'>;

/** @returns null for an address that we never gave to anybody, or that names nothing */
export async function visitLink(deps: VisitDeps, shops: Shops, token: string): Promise<Visit | null> {
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
    return { shop, now: row.now, link, attempt: attempt && pagePayin(shop, attempt) };
  });
}

/** @returns null for an address that we never gave to anybody, or that names nothing */
export function visitPayin(deps: VisitDeps, shops: Shops, token: string): Promise<Visit | null> {
  return visitSubject(deps, shops, deps.checkoutTokens.read(token));
}

/** The address of a receipt is another secret than that of the page: it may be shown to anybody. */
export function visitReceipt(deps: VisitDeps, shops: Shops, token: string): Promise<Visit | null> {
  return visitSubject(deps, shops, deps.receiptTokens.read(token));
}

async function visitSubject(
  deps: VisitDeps,
  shops: Shops,
  subject: ReturnType<SealedTokens['read']>,
): Promise<Visit | null> {
  const shop = subject && (await shops.find(subject.organizationNumber));
  if (!subject || !shop) return null;
  const { id: organizationId } = shop.organization;
  const row = await deps.read.read(organizationId, (tx) => findPagePayin(tx, organizationId, subject.id));
  return row && { shop, now: row.now, link: null, attempt: pagePayin(shop, row) };
}

function pagePayin({ secrets }: Shop, row: PageRow): PagePayin {
  return { payin: payinOf(row, secrets.dataKey), cus: row.pse_cus };
}
