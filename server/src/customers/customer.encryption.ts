import { decrypt, encrypt, type SecretKey } from '../kit/crypto.ts';
import type { Customer } from './customer.ts';

/** The row of an encrypted customer. The ciphertext is bound to it: copied to another row, it fails to decrypt. */
export interface CustomerRow {
  readonly table: 'payins' | 'payouts' | 'payment_links';
  readonly organizationId: string;
  readonly id: string;
}

function identity({ table, organizationId, id }: CustomerRow): string {
  return `${table}.customer/${organizationId}/${id}`;
}

export function encryptCustomer(
  dataKey: SecretKey,
  customer: Customer | null,
  row: CustomerRow,
): Buffer | null {
  return customer === null ? null : encrypt(dataKey, JSON.stringify(customer), identity(row));
}

export function decryptCustomer(
  dataKey: SecretKey,
  encrypted: Buffer | null,
  row: CustomerRow,
): Customer | null {
  return encrypted === null
    ? null
    : (JSON.parse(decrypt(dataKey, encrypted, identity(row)).toString('utf8')) as Customer);
}
