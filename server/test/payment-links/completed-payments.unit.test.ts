import { describe, expect, it } from 'vitest';
import { toBucket } from '../../src/flows/payment-links/completed-payments.ts';

describe('completed payments of a shop', () => {
  it.each([
    [
      { completed: 1001, examined: 2000 },
      { kind: 'more_than', count: 1000 },
    ],
    [
      { completed: 1000, examined: 1000 },
      { kind: 'more_than', count: 100 },
    ],
    [
      { completed: 11, examined: 2000 },
      { kind: 'more_than', count: 10 },
    ],
    [{ completed: 10, examined: 1999 }, { kind: 'at_most_ten' }],
    // More payins exist than were examined.
    [{ completed: 10, examined: 2000 }, { kind: 'unknown' }],
  ])('%j are stated as %j', (counted, expected) => expect(toBucket(counted)).toEqual(expected));
});
