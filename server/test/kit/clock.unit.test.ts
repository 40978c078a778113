import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BusinessClock, monotonicMs } from '../../src/kit/clock.ts';

const NOON = Date.UTC(2026, 10, 16, 12);
const HOUR = 3_600_000;
// The process clock stands still, so that a stalled process does not move the times.
beforeEach(() => {
  vi.spyOn(performance, 'now').mockReturnValue(20_000);
});
afterEach(() => vi.restoreAllMocks());
const free = { leadMs: 0, floorMs: 0, limitMs: Number.POSITIVE_INFINITY };

describe('BusinessClock', () => {
  it('creates increasing IDs and uses the corrected time for deadlines when the time goes back', () => {
    const clock = new BusinessClock();
    clock.sample(NOON, monotonicMs());
    const before = clock.now();
    clock.sample(NOON - HOUR, monotonicMs());
    const after = [clock.now(), clock.now()];
    expect(after[0]).toBeGreaterThan(before);
    expect(after[1]).toBeGreaterThan(after[0] ?? 0);
    expect(clock.time()).toBeLessThan(NOON - HOUR + 5000);
  });

  it('uses the shared lead for IDs, so that IDs of several processes keep their order', () => {
    const [one, other] = [new BusinessClock(), new BusinessClock()];
    for (const clock of [one, other]) clock.sample(NOON - HOUR, monotonicMs(), { ...free, leadMs: HOUR });
    for (const clock of [one, other]) {
      expect(clock.now()).toBeGreaterThanOrEqual(NOON);
      expect(clock.now()).toBeLessThan(NOON + 5000);
    }
  });

  it('stamps the same time in processes whose samples are of different ages while ids run ahead', () => {
    const sampledAt = monotonicMs();
    const [late, fresh] = [new BusinessClock(), new BusinessClock()];
    late.sample(NOON - HOUR - 4000, sampledAt - 4000, { ...free, leadMs: HOUR + 2000 });
    fresh.sample(NOON - HOUR, sampledAt, { ...free, leadMs: HOUR });
    expect(Math.abs(late.now() - fresh.now())).toBeLessThan(500);
  });

  it('creates no ID before the stored high-water mark, as in a process that starts after a failover', () => {
    const clock = new BusinessClock();
    clock.sample(NOON - HOUR, monotonicMs(), { ...free, floorMs: NOON });
    expect(clock.now()).toBeGreaterThanOrEqual(NOON);
  });

  it('creates no ID beyond the limit, and still returns the time', () => {
    const clock = new BusinessClock();
    clock.sample(NOON, monotonicMs(), { ...free, limitMs: NOON - 1 });
    expect(() => clock.now()).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(clock.time()).toBeGreaterThanOrEqual(NOON);
  });
});
