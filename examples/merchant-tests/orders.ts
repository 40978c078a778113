/** Request data of the tests; in your project, the data of your shop. */
export function order() {
  const reference = `test-${crypto.randomUUID()}`;
  return { amountInCents: 4_980_000, currency: 'COP', rail: 'BRE_B', reference } as const;
}

/** In staging the document number selects the behavior: this payer pays after three seconds. */
export const PAYING_CUSTOMER = {
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
