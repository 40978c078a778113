import { base32Digits, fromBase32Digits, uuidFromBase32, uuidToBase32 } from '../kit/ids.ts';

/** Read back from a notice of PSE it names the cell, the payin and whose it is: 32 characters, all that PSE allows. */
export function pseReference(payinId: string, organizationNumber: number): string {
  return uuidToBase32(payinId) + base32Digits(organizationNumber, 6);
}

/** @returns null for a reference that is not of our making */
export function readPseReference(reference: string): { payinId: string; organizationNumber: number } | null {
  if (reference.length !== 32) return null;
  const payinId = uuidFromBase32(reference.slice(0, 26));
  const organizationNumber = fromBase32Digits(reference.slice(26));
  return payinId === null || organizationNumber === null ? null : { payinId, organizationNumber };
}
