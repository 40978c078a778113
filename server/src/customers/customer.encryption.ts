import { open, type SecretKey, seal } from '../kit/crypto.ts';
import type { Customer } from './customer.ts';

/** The row a sealed customer belongs to: a ciphertext copied to another one does not open. */
export interface CustomerRow {
  readonly table: 'payins' | 'payouts' | 'payment_links';
  readonly organizationId: string;
  readonly id: string;
}

function identity({ table, organizationId, id }: CustomerRow): string {
  return `${table}.customer/${organizationId}/${id}`;
}

export function sealCustomer(dataKey: SecretKey, customer: Customer | null, row: CustomerRow): Buffer | null {
  return customer === null ? null : seal(dataKey, JSON.stringify(customer), identity(row));
}

export function openCustomer(dataKey: SecretKey, sealed: Buffer | null, row: CustomerRow): Customer | null {
  return sealed === null
    ? null
    : (JSON.parse(open(dataKey, sealed, identity(row)).toString('utf8')) as Customer);
}
