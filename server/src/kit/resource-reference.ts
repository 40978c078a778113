import { base32Digits, fromBase32Digits, uuidFromBase32, uuidToBase32 } from './ids.ts';

/**
 * What we call a payin or payout at its rail. Read back from the rail's messages it names the cell, the resource and whose
 * it is: 32 capital letters and digits, all that PSE allows.
 */
export function resourceReference(id: string, organizationNumber: number): string {
  return uuidToBase32(id) + base32Digits(organizationNumber, 6);
}

/** @returns null for a reference that is not of our making */
export function readResourceReference(reference: string): { id: string; organizationNumber: number } | null {
  if (reference.length !== 32) return null;
  const id = uuidFromBase32(reference.slice(0, 26));
  const organizationNumber = fromBase32Digits(reference.slice(26));
  return id === null || organizationNumber === null ? null : { id, organizationNumber };
}
