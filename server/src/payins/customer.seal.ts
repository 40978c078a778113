import { open, type SecretKey, seal } from '../kit/crypto.ts';
import type { Customer } from './payin.ts';

/** Bound to its row: a ciphertext copied to another payin does not open. */
function identity(organizationId: string, payinId: string): string {
  return `payins.customer/${organizationId}/${payinId}`;
}

export function sealCustomer(
  dataKey: SecretKey,
  customer: Customer | null,
  organizationId: string,
  payinId: string,
): Buffer | null {
  return customer === null
    ? null
    : seal(dataKey, JSON.stringify(customer), identity(organizationId, payinId));
}

export function openCustomer(
  dataKey: SecretKey,
  sealed: Buffer | null,
  organizationId: string,
  payinId: string,
): Customer | null {
  return sealed === null
    ? null
    : (JSON.parse(open(dataKey, sealed, identity(organizationId, payinId)).toString('utf8')) as Customer);
}
