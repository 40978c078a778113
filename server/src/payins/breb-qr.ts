import { qrPngDataUri } from '../kit/qr-png.ts';
import { brebQrPayload } from '../rails/breb/emvco.ts';
import type { Payin } from './payin.ts';

/** What a QR code says of who collects. */
export interface QrMerchant {
  readonly name: string;
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
}

/** `qrString`: made when it is asked for, never stored; the same payin always gives the same picture. */
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
      // Our key is unique for ever and has 19 characters behind its @: as long as the standard lets an id be.
      transactionId: key.slice(1),
    }),
  );
}
