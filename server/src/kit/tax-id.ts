const WEIGHTS = [3, 7, 13, 17, 19, 23, 29, 37, 41, 43, 47];

/** The check digit of a NIT: modulo 11 with a prime weight per position, from the right. */
function taxIdCheckDigit(digits: string): number {
  const sum = digits
    .split('')
    .reduce((total, digit, index) => total + Number(digit) * (WEIGHTS[digits.length - 1 - index] ?? 0), 0);
  const rest = sum % 11;
  return rest > 1 ? 11 - rest : rest;
}

/** Reads `900.123.456-8` or `900123456-8`. @returns `900123456-8`, or null when the check digit is missing or wrong */
export function parseTaxId(text: string): string | null {
  const [, digits = '', check] = /^(\d{6,11})-(\d)$/.exec(text.replace(/[.\s]/g, '')) ?? [];
  return digits !== '' && Number(check) === taxIdCheckDigit(digits) ? `${digits}-${check}` : null;
}

/** `900.123.456-8`, as on Colombian invoices. */
export function formatTaxId(taxId: string): string {
  return taxId.replace(/\B(?=(?:\d{3})+-)/g, '.');
}
