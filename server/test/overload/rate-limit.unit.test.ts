import { describe, expect, it } from 'vitest';
import { RateLimit } from '../../src/kit/rate-limit.ts';

function withClock() {
  const clock = { ms: 1000 };
  const limit = new RateLimit('writes', () => clock.ms);
  const countAllowed = (times: number, name = 'shop', perSecond = 10) =>
    Array.from({ length: times }, () => limit.take(name, perSecond)?.allowed).filter(Boolean).length;
  return { clock, limit, countAllowed };
}

describe('RateLimit', () => {
  it('allows a burst of five seconds, then the rate per second', () => {
    const { clock, countAllowed } = withClock();
    expect(countAllowed(100)).toBe(50);
    clock.ms += 1000;
    expect(countAllowed(100)).toBe(10);
    clock.ms += 250;
    expect(countAllowed(100)).toBe(2);
  });

  it('never accumulates more than five seconds', () => {
    const { clock, countAllowed } = withClock();
    countAllowed(50);
    clock.ms += 3_600_000;
    expect(countAllowed(1000)).toBe(50);
  });

  it('counts each name separately', () => {
    const { countAllowed } = withClock();
    expect(countAllowed(100, 'one')).toBe(50);
    expect(countAllowed(100, 'other')).toBe(50);
  });

  it('returns the policy and the remainder in the format of the draft', () => {
    const { limit, countAllowed } = withClock();
    expect(limit.take('shop', 10)).toEqual({
      allowed: true,
      policy: '"writes";q=50;w=5',
      limit: '"writes";r=49;t=1',
    });
    countAllowed(49);
    expect(limit.take('shop', 10)).toEqual({
      allowed: false,
      policy: '"writes";q=50;w=5',
      limit: '"writes";r=0;t=1',
    });
  });

  it('follows a change of the limit', () => {
    const { clock, limit, countAllowed } = withClock();
    countAllowed(50);
    clock.ms += 1000;
    expect(countAllowed(100, 'shop', 100)).toBe(100);
    expect(limit.take('shop', 100)?.policy).toBe('"writes";q=500;w=5');
    clock.ms += 3_600_000;
    expect(countAllowed(100, 'shop', 1)).toBe(5);
  });

  it('does not limit at zero', () => {
    const { limit } = withClock();
    expect(limit.take('shop', 0)).toBeNull();
  });

  it('refunds a token, up to the capacity', () => {
    const { limit, countAllowed } = withClock();
    limit.refund('shop');
    countAllowed(50);
    limit.refund('shop');
    expect(countAllowed(10)).toBe(1);
    const fresh = withClock();
    fresh.countAllowed(1);
    fresh.limit.refund('shop');
    fresh.limit.refund('shop');
    expect(fresh.countAllowed(100)).toBe(50);
  });

  it('evicts names with a full bucket, and no others, when it has too many', () => {
    const { clock, countAllowed } = withClock();
    countAllowed(50, 'busy');
    for (let index = 0; index < 50_000; index += 1) countAllowed(1, `name ${index}`);
    clock.ms += 200;
    countAllowed(1, 'one more');
    expect(countAllowed(100, 'busy')).toBe(2);
  });
});
