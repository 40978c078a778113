import { expect, it } from 'vitest';
import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import { RequestSampler } from '../../src/tracing/sampler.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const SAMPLED = { ...CALLER, sampled: true };
const NOT_SAMPLED = { ...CALLER, sampled: false };

function count(sampler: RequestSampler, requests: number, caller: typeof SAMPLED | null): number {
  return Array.from({ length: requests }).filter(() => sampler.isSampled(caller)).length;
}

it('samples about the configured share, whatever trace id the caller chooses', () => {
  const sampler = new RequestSampler({ ratio: 0.1, followsCaller: false });
  // The bounds are 22 standard deviations of a binomial distribution away: chance does not decide.
  for (const caller of [null, SAMPLED, NOT_SAMPLED]) {
    const found = count(sampler, 200_000, caller);
    expect(found).toBeGreaterThan(17_000);
    expect(found).toBeLessThan(23_000);
  }
});

it('follows a sampled caller only up to a limit', () => {
  const sampler = new RequestSampler({ ratio: 0, followsCaller: true });
  const elapsedMs = stopwatch();
  const found = count(sampler, 10_000, SAMPLED);
  expect(found).toBeGreaterThanOrEqual(10);
  // The limit allows ten more each second.
  expect(found).toBeLessThan(100 + elapsedMs() / 100);
  expect(count(sampler, 10_000, null)).toBe(0);
});

it('does not let a caller hide its requests', () => {
  const sampler = new RequestSampler({ ratio: 1, followsCaller: true });
  expect(count(sampler, 100, NOT_SAMPLED)).toBe(100);
});

it('samples nothing with a share of 0', () => {
  const sampler = new RequestSampler({ ratio: 0, followsCaller: false });
  expect(count(sampler, 10_000, SAMPLED)).toBe(0);
});
