/** What the tests ask for: in your project, what your shop would. */
export function order() {
  const reference = `test-${crypto.randomUUID()}`;
  return { amountInCents: 4_980_000, currency: 'COP', rail: 'BRE_B', reference } as const;
}

/** The document number decides in staging: this payer pays three seconds later. */
export const PAYS_BY_ITSELF = {
  name: 'Ana Rojas',
  idType: 'CO_CC',
  idNumber: '1000000001',
  phone: '+573001234567',
  email: 'ana@example.com',
} as const;

export const SUPPLIER = {
  name: 'Janeth Smith Prueba',
  idType: 'CO_CC',
  idNumber: '1000000099',
  phone: '+573001234567',
  email: 'janeth@example.com',
} as const;
