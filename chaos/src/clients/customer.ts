/** The customer of the payins, links and payouts that test clients create. */
export const CUSTOMER = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
};
