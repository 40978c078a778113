import { expect, it } from 'vitest';
import { cookieText, parseCookies } from '../../src/http/checkout/attempt-cookies.ts';

it('binds cookies to the host when the pages use https', () => {
  const secure = cookieText({ name: 'attempt_x', value: 'v' }, { secure: true, path: '/checkout/' });
  expect(secure).toBe('__Host-attempt_x=v; Path=/; Secure; Max-Age=86400; HttpOnly; SameSite=Lax');
  const plain = cookieText({ name: 'attempt_x', value: '' }, { secure: false, path: '/checkout/' });
  expect(plain).toBe('attempt_x=; Path=/checkout/; Max-Age=0; HttpOnly; SameSite=Lax');
});

it('reads cookies by their name without the prefix, which wins over an older cookie', () => {
  expect([...parseCookies('__Host-attempt_x=new; attempt_x=old; lang=es')]).toEqual([
    ['attempt_x', 'new'],
    ['lang', 'es'],
  ]);
  expect(parseCookies('attempt_y=old').get('attempt_y')).toBe('old');
});
