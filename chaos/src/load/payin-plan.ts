import { CUSTOMER } from '../clients/customer.ts';
import type { PayinRequest } from '../clients/payin-client.ts';
import type { Random } from '../run/random.ts';

/** Weights of the payer's document; for `none`, `actAsPayer` plays the payer. */
const DOCUMENTS = {
  none: 55,
  '1000000001': 8,
  '1000000003': 5,
  '1000000005': 5,
  '1000000007': 5,
  '1000000009': 5,
  '1000000011': 4,
  '1000000013': 4,
  '1000000015': 1,
  '1000000017': 1,
  '1000000019': 4,
  '1000000021': 3,
};
const GENTLE_DOCUMENTS = { ...DOCUMENTS, '1000000015': 0, '1000000017': 0 };

/** A payin to request, and whether a magic document plays its payer. */
export interface PayinPlan {
  readonly request: PayinRequest;
  readonly magic: boolean;
}

/** @param gentle excludes the magic documents whose calls are slow or lost: they delay every other call */
export function planPayin(
  random: Random,
  nextIdempotencyKey: () => string,
  nextReference: () => string,
  gentle = false,
): PayinPlan {
  const document = random.weighted(gentle ? GENTLE_DOCUMENTS : DOCUMENTS);
  const rail = random.chance(0.6) ? 'BRE_B' : 'PSE';
  const request = {
    idempotencyKey: random.chance(0.9) ? nextIdempotencyKey() : null,
    body: {
      amountInCents: random.integer(150_000, 90_000_000),
      currency: 'COP',
      rail,
      reference: nextReference(),
      inlineCustomer: {
        ...CUSTOMER,
        idNumber: document === 'none' ? String(random.integer(10_000_000, 99_999_999)) : document,
      },
      ...(rail === 'BRE_B'
        ? { breb: { keyType: 'SINGLE_USE' } }
        : { pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' } }),
    },
  } as const;
  return { request, magic: document !== 'none' };
}
