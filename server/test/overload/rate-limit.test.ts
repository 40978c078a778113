import { describe, expect, it } from 'vitest';
import { RateLimit } from '../../src/kit/rate-limit.ts';

function withClock() {
  const clock = { ms: 1000 };
  const limit = new RateLimit('writes', () => clock.ms);
  const taken = (times: number, name = 'shop', perSecond = 10) =>
    Array.from({ length: times }, () => limit.take(name, perSecond)?.allowed).filter(Boolean).length;
  return { clock, limit, taken };
}

describe('a rate limit', () => {
  it('lets five seconds of it through at once, then so many a second', () => {
    const { clock, taken } = withClock();
    expect(taken(100)).toBe(50);
    clock.ms += 1000;
    expect(taken(100)).toBe(10);
    clock.ms += 250;
    expect(taken(100)).toBe(2);
  });

  it('never saves more than five seconds', () => {
    const { clock, taken } = withClock();
    taken(50);
    clock.ms += 3_600_000;
    expect(taken(1000)).toBe(50);
  });

  it('counts each name apart', () => {
    const { taken } = withClock();
    expect(taken(100, 'one')).toBe(50);
    expect(taken(100, 'other')).toBe(50);
  });

  it('says the policy and what is left as the draft has it', () => {
    const { limit, taken } = withClock();
    expect(limit.take('shop', 10)).toEqual({
      allowed: true,
      policy: '"writes";q=50;w=5',
      limit: '"writes";r=49;t=1',
    });
    taken(49);
    expect(limit.take('shop', 10)).toEqual({
      allowed: false,
      policy: '"writes";q=50;w=5',
      limit: '"writes";r=0;t=1',
    });
  });

  it('follows a change of the limit', () => {
    const { clock, limit, taken } = withClock();
    taken(50);
    clock.ms += 1000;
    expect(taken(100, 'shop', 100)).toBe(100);
    expect(limit.take('shop', 100)?.policy).toBe('"writes";q=500;w=5');
    clock.ms += 3_600_000;
    expect(taken(100, 'shop', 1)).toBe(5);
  });

  it('is none at zero', () => {
    const { limit } = withClock();
    expect(limit.take('shop', 0)).toBeNull();
  });

  it('gives back what was taken for nothing, but no more than fits', () => {
    const { limit, taken } = withClock();
    limit.giveBack('shop');
    taken(50);
    limit.giveBack('shop');
    expect(taken(10)).toBe(1);
    const fresh = withClock();
    fresh.taken(1);
    fresh.limit.giveBack('shop');
    fresh.limit.giveBack('shop');
    expect(fresh.taken(100)).toBe(50);
  });

  it('forgets names whose bucket is full again, and no other, when it has too many', () => {
    const { clock, taken } = withClock();
    taken(50, 'busy');
    for (let index = 0; index < 50_000; index += 1) taken(1, `name ${index}`);
    clock.ms += 200;
    taken(1, 'one more');
    expect(taken(100, 'busy')).toBe(2);
  });
});
