import type { Deps } from '../../deps.ts';
import type { Shop } from '../../organizations/shops.ts';
import type { Payin } from '../../payins/payin.ts';
import { findLinks } from '../../payment-links/payment-link.store.ts';
import { findReceiptCode, insertReceipt } from '../../receipts/receipt.store.ts';
import { newReceiptCode } from '../../receipts/receipt-code.ts';
import type { CheckoutState } from '../payment-links/load-checkout.ts';

/** Whether the shop still has the money. `reversed`: the rail does not list the payment. */
export type ReceiptState = 'confirmed' | 'returned' | 'reversed';

export interface Receipt {
  readonly shop: Shop;
  readonly payin: Payin;
  readonly state: ReceiptState;
  readonly code: string;
  /** What was bought: the description of the payment link. */
  readonly description: string | null;
  /** Legal name and NIT of the shop. */
  readonly legalName: string | null;
  readonly taxId: string | null;
  readonly amount: bigint;
  readonly paidAt: Date;
  /** The rail's number of the payment. */
  readonly trace: string | null;
  /** The signed facts; null if the money was returned, because a signature would outlive the return. */
  readonly signed: string | null;
}

type ReceiptDeps = Pick<Deps, 'read' | 'batch' | 'receiptKeys' | 'environment' | 'checkoutUrl'>;

/**
 * Issues the receipt of a confirmed payin. The code is stored on first use; the facts are signed anew each time, so that
 * a receipt that is opened again carries a signature of the current key.
 * @returns null if the payin is not confirmed
 */
export async function issueReceipt(
  deps: ReceiptDeps,
  { shop, now, attempt }: Pick<CheckoutState, 'shop' | 'now' | 'attempt'>,
): Promise<Receipt | null> {
  if (attempt?.payin.status !== 'CONFIRMED') return null;
  const { payin } = attempt;
  const stored = await readStored(deps, payin);
  const receipt = {
    shop,
    payin,
    state: receiptState(payin),
    code: stored.code ?? (await storeCode(deps, payin)),
    description: stored.description,
    legalName: shop.organization.legalName,
    taxId: shop.organization.taxId,
    // The payin that completed a link is only its last part.
    amount: stored.linkAmount ?? payin.confirmedAmount ?? payin.amount,
    paidAt: payin.resultAt ?? payin.updatedAt,
    trace: payin.source.rail === 'PSE' ? (payin.source.page?.cus ?? null) : payin.endToEndId,
  };
  return { ...receipt, signed: receipt.state === 'confirmed' ? sign(deps, receipt, now) : null };
}

function readStored(
  { read }: ReceiptDeps,
  { organizationId, id, paymentLinkId }: Payin,
): Promise<{
  readonly code: string | null;
  readonly description: string | null;
  readonly linkAmount: bigint | null;
}> {
  return read.read(organizationId, async (tx) => {
    const code = await findReceiptCode(tx, organizationId, id);
    const [link] = paymentLinkId === null ? [] : await findLinks(tx, [{ organizationId, id: paymentLinkId }]);
    const linkAmount = link?.payin_id === id ? link.amount_in_cents : null;
    return { code, description: link?.description ?? null, linkAmount };
  });
}

async function storeCode({ batch }: ReceiptDeps, { organizationId, id }: Payin): Promise<string> {
  const code = await batch.write('issue receipt', new Set([organizationId]), (tx) =>
    insertReceipt(tx, organizationId, id, newReceiptCode()),
  );
  if (code === null) throw new Error('the receipt was not stored');
  return code;
}

function receiptState({ settlementStatus, chargebackAt }: Payin): ReceiptState {
  if (chargebackAt !== null) return 'returned';
  return settlementStatus === 'REVERSED' ? 'reversed' : 'confirmed';
}

function sign(
  { receiptKeys, environment, checkoutUrl }: ReceiptDeps,
  { shop, payin, code, taxId, amount, paidAt, trace }: Omit<Receipt, 'signed'>,
  now: Date,
): string {
  return receiptKeys.sign({
    host: new URL(checkoutUrl).host,
    environment: environment === 'production' ? 'live' : 'test',
    code,
    shop: shop.organization.name,
    taxId,
    amountInCents: amount,
    currency: 'COP',
    paidAt,
    reference: payin.reference,
    rail: payin.source.rail,
    trace,
    signedAt: now,
  });
}
