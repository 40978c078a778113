import { qrPng } from '../kit/qr-png.ts';
import { brebQrPayload } from '../rails/breb/emvco.ts';
import type { Payin } from './payin.ts';

/** The merchant data in a QR code. */
export interface QrMerchant {
  readonly name: string;
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
}

/** Pixels per module on a page: a whole number of at least three, or cameras cannot read the code from a screen. */
const PAGE_MODULE_PIXELS = 3;

/** Renders `qrString` on demand; it is never stored. The same payin always yields the same image. */
export function brebQr(
  network: { readonly network: string; readonly networkId: string },
  merchant: QrMerchant,
  payin: Payin,
  key: string,
): string {
  return brebQrImage(network, merchant, payin, key).src;
}

/** The same image with the width at which a page must show it. */
export function brebQrImage(
  network: { readonly network: string; readonly networkId: string },
  merchant: QrMerchant,
  payin: Payin,
  key: string,
): { readonly src: string; readonly width: number } {
  const { dataUri, modules } = qrPng(
    brebQrPayload({
      key,
      amountInCents: payin.amount,
      network: network.network,
      networkId: network.networkId,
      merchantName: merchant.name,
      merchantCity: merchant.city,
      postalCode: merchant.postalCode,
      merchantCategory: merchant.merchantCategory,
      reference: payin.reference,
      // The key is never reused, and its 19 characters after the @ are the standard's maximum for an id.
      transactionId: key.slice(1),
    }),
  );
  return { src: dataUri, width: modules * PAGE_MODULE_PIXELS };
}
