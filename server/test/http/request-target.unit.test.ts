import { expect, it } from 'vitest';
import { isNormalTarget } from '../../src/http/request-target.ts';

it.each([
  '/',
  '/payins?reference=%61//../x',
  '/breb/keys/%40TESTOK',
  '/breb/keys/%2B573001234567',
  '/breb/keys/ana.perez@example.com',
  '/breb/keys/ana..perez%40example.com',
  '/docs/guides/going-live',
  '/checkout/l/abc_DEF-123~',
  '/docs/%C3%B1',
])('accepts %s', (target) => {
  expect(isNormalTarget(target)).toBe(true);
});

it.each([
  '/%72ail-notices/breb',
  '/payins%2f',
  '/payins/%2e%2e/balance',
  '/payins/%2E',
  '/payin%73',
  '//payins',
  '/payins//x',
  '/./payins',
  '/x/../payins',
  '/payins/..',
  '/payins\\x',
  '/payins%5cx',
  'http://127.0.0.1/payins',
  '*',
  '',
])('rejects %s', (target) => {
  expect(isNormalTarget(target)).toBe(false);
});
