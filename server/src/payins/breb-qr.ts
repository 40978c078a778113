import { qrPngDataUri } from '../kit/qr-png.ts';
import { brebQrPayload } from '../rails/breb/emvco.ts';
import type { Payin } from './payin.ts';

/** The merchant data in a QR code. */
export interface QrMerchant {
  readonly name: string;
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
}

/** Renders `qrString` on demand; it is never stored. The same payin always yields the same image. */
export function brebQr(
  network: { readonly network: string; readonly networkId: string },
  merchant: QrMerchant,
  payin: Payin,
  key: string,
): string {
  return qrPngDataUri(
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
}
