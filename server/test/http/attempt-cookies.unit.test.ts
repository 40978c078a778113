import { describe, expect, it } from 'vitest';
import { ownAttempts, rememberAttempt } from '../../src/http/checkout/attempt-cookies.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import { uuidv7 } from '../../src/kit/ids.ts';

const hashKey = keyFromSecret('organization of the test');
const START_MS = Date.UTC(2026, 10, 16);

function newLink(index: number) {
  return { linkId: uuidv7(START_MS + index, 0), hashKey };
}

/** A browser that stores cookies; an empty value deletes. */
function store(cookies: Map<string, string>, changes: ReturnType<typeof rememberAttempt>): void {
  for (const { name, value } of changes) {
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
}

describe('the cookie of a link', () => {
  it('keeps the attempts of each link separately, newest first', () => {
    const cookies = new Map<string, string>();
    const [first, second] = [newLink(1), newLink(2)];
    const ids = [1, 2, 3].map((index) => uuidv7(START_MS + index, 0));
    store(cookies, rememberAttempt(cookies, first, ids[0] ?? ''));
    store(cookies, rememberAttempt(cookies, second, ids[1] ?? ''));
    store(cookies, rememberAttempt(cookies, first, ids[2] ?? ''));
    expect(ownAttempts(cookies, first)).toEqual([ids[2], ids[0]]);
    expect(ownAttempts(cookies, second)).toEqual([ids[1]]);
  });

  it('contains a repeated attempt once, and at most four attempts', () => {
    const cookies = new Map<string, string>();
    const link = newLink(1);
    const ids = [1, 2, 3, 4, 5].map((index) => uuidv7(START_MS + index, 0));
    for (const id of [...ids, ids[4] ?? '', ids[4] ?? '']) store(cookies, rememberAttempt(cookies, link, id));
    expect(ownAttempts(cookies, link)).toEqual(ids.toReversed().slice(0, 4));
  });

  it('is deleted when ten links are newer', () => {
    const cookies = new Map<string, string>([['lang', 'en']]);
    const links = Array.from({ length: 12 }, (_, index) => newLink(index));
    for (const [index, link] of links.entries())
      store(cookies, rememberAttempt(cookies, link, uuidv7(START_MS + index, 0)));
    const remembered = links.map((link) => ownAttempts(cookies, link).length);
    expect(remembered).toEqual([0, 0, ...Array.from({ length: 10 }, () => 1)]);
    expect(cookies.get('lang')).toBe('en');
  });

  it.each([
    ['another link', { linkId: newLink(9).linkId, hashKey }],
    ['another organization', { linkId: newLink(1).linkId, hashKey: keyFromSecret('another') }],
  ])('is rejected for %s', (_other, scope) => {
    const cookies = new Map<string, string>();
    const link = { linkId: scope.linkId, hashKey };
    const [cookie] = rememberAttempt(cookies, newLink(1), uuidv7(START_MS, 0));
    const [own] = rememberAttempt(cookies, link, uuidv7(START_MS, 0));
    const forged = scope.hashKey === hashKey ? cookie?.value : own?.value;
    cookies.set(own?.name ?? '', forged ?? '');
    expect(ownAttempts(cookies, scope)).toEqual([]);
  });

  it.each(['', '.', 'x', uuidv7(START_MS, 0), `${uuidv7(START_MS, 0)}.AAAAAAAAAAAAAAAAAAAAAA`])(
    'is rejected with the value "%s"',
    (value) => {
      const link = newLink(1);
      const [cookie] = rememberAttempt(new Map(), link, uuidv7(START_MS, 0));
      expect(ownAttempts(new Map([[cookie?.name ?? '', value]]), link)).toEqual([]);
    },
  );
});
