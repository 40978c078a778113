import { describe, expect, it } from 'vitest';
import { collectionDescription } from '../../src/flows/payins/collection-description.ts';

describe('description of a collection at the bank', () => {
  it.each([
    ['Tienda Aurora', 'Pedido 7', 'Tienda Aurora: Pedido 7'],
    ['Panadería Ñandú', 'Pan de «trigo» 🍞 x2', 'Panaderia Nandu: Pan de trigo x2'],
    ['A <b>&"', "O'Neil", 'A b: O Neil'],
    ['Tienda Aurora', '🍞', 'Tienda Aurora'],
  ])('of %s for %s is %s', (shop, subject, expected) =>
    expect(collectionDescription(shop, subject)).toBe(expected),
  );

  it('has at most 64 characters and keeps the start of both parts', () => {
    const text = collectionDescription('S'.repeat(120), 'r'.repeat(255));
    expect(text).toBe(`${'S'.repeat(30)}: ${'r'.repeat(32)}`);
  });
});
