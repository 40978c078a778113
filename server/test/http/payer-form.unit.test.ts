import { describe, expect, it } from 'vitest';
import { readPayer } from '../../src/http/checkout/payer-form.ts';

const VALUES = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '3001234567',
  email: 'ana@example.com',
  authorize: 'yes',
};

function read(changes: Record<string, string>, personType: 'INDIVIDUAL' | 'BUSINESS' = 'INDIVIDUAL') {
  return readPayer({ ...VALUES, ...changes }, personType);
}

describe('the details of a payer', () => {
  it.each([
    ['CO_CC', '1.020.304.050', '1020304050'],
    ['CO_CC', '1,020,304,050', '1020304050'],
    ['CO_CC', ' 1 020 304 050 ', '1020304050'],
    ['CO_CC', '1-020-304-050', '1020304050'],
    ['CO_NIT', '900.123.456–8', '900123456-8'],
    ['PASSPORT', 'AV 123456', 'AV123456'],
  ])('accept the %s number "%s"', (idType, idNumber, normalized) => {
    expect(read({ idType, idNumber })).toMatchObject({ customer: { idType, idNumber: normalized } });
  });

  it.each(['300 123 4567', '0057 300 123 4567', '+57 (300) 123-4567', '573001234567'])(
    'accept the mobile number "%s"',
    (phone) => expect(read({ phone })).toMatchObject({ customer: { phone: '+573001234567' } }),
  );

  it.each(['12345', '😀😀😀', 'Ana 😀', '🇨🇴', '', '.', 'X'])('reject the name "%s"', (name) =>
    expect(read({ name })).toEqual({ invalidFields: ['name'] }),
  );

  it.each(["O'Neil", 'Ñato Güiza', 'Li', 'José de la Cruz 2º', '李明'])('accept the name "%s"', (name) =>
    expect(read({ name })).toMatchObject({ customer: { name } }),
  );

  it.each([
    ['900123456-8', '900123456-8'],
    ['900.123.456-8', '900123456-8'],
    ['9001234568', '900123456-8'],
    ['900123456', '900123456'],
  ])('of a company accept the NIT "%s"', (idNumber, normalized) => {
    const company = read({ idNumber, name: 'D1', idType: 'CO_CC' }, 'BUSINESS');
    expect(company).toMatchObject({ customer: { idType: 'CO_NIT', idNumber: normalized } });
  });

  it.each(['900123456-7', '9001234567', '1020304050x', '12'])(
    'of a company reject the NIT "%s"',
    (idNumber) =>
      expect(read({ idNumber, name: 'Tienda SAS' }, 'BUSINESS')).toEqual({ invalidFields: ['idNumber'] }),
  );

  it('need the authorization', () => {
    expect(read({ authorize: '' })).toEqual({ invalidFields: ['authorize'] });
  });
});
