import { base32Digits, fromBase32Digits, uuidFromBase32, uuidToBase32 } from './ids.ts';

/**
 * Reference of a payin or payout at its rail. It encodes the cell, the resource and its organization, so that a rail
 * message can be routed. It has 32 capital letters and digits, the maximum PSE allows.
 */
export function resourceReference(id: string, organizationNumber: number): string {
  return uuidToBase32(id) + base32Digits(organizationNumber, 6);
}

/** @returns null for a reference that this service did not create */
export function parseResourceReference(reference: string): { id: string; organizationNumber: number } | null {
  if (reference.length !== 32) return null;
  const id = uuidFromBase32(reference.slice(0, 26));
  const organizationNumber = fromBase32Digits(reference.slice(26));
  return id === null || organizationNumber === null ? null : { id, organizationNumber };
}
