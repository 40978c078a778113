let counter = 0;

export const CUSTOMER = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
};

export function newReference(): string {
  counter += 1;
  return `order-${process.pid}-${counter}`;
}

export function brebPayin(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amountInCents: 4_980_000,
    currency: 'COP',
    rail: 'BRE_B',
    reference: newReference(),
    inlineCustomer: CUSTOMER,
    breb: { keyType: 'SINGLE_USE' },
    ...changes,
  };
}

export function psePayin(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amountInCents: 4_980_000,
    currency: 'COP',
    rail: 'PSE',
    reference: newReference(),
    inlineCustomer: CUSTOMER,
    pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
    ...changes,
  };
}

export function without(body: Record<string, unknown>, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}
