import { sha256 } from '../../src/kit/crypto.ts';
import { type SigningKey, signingKeyFromSeed } from '../../src/kit/ed25519.ts';
import type { ReceiptFacts } from '../../src/receipts/receipt-facts.ts';
import { ReceiptKeys } from '../../src/receipts/receipt-keys.ts';

/** Facts of a typical receipt. */
export const FACTS: Omit<ReceiptFacts, 'keyId'> = {
  host: 'pagos.example.com.co',
  environment: 'live',
  code: '7K3M9QXA22TF',
  shop: 'Tienda Aurora y Compañía S.A.S.',
  taxId: '900123456-8',
  amountInCents: 4_980_000n,
  currency: 'COP',
  paidAt: new Date('2026-11-16T14:03:22Z'),
  reference: 'pedido-2026-000123',
  rail: 'BRE_B',
  trace: '20261116CRBCDL0000000000000000123456',
  signedAt: new Date('2026-11-16T14:05:00Z'),
};

export function newKey(name: string): SigningKey {
  return signingKeyFromSeed(sha256(name));
}

export function receiptKeys(): ReceiptKeys {
  return new ReceiptKeys({ current: newKey('current'), retired: [], revokedIds: [] });
}
