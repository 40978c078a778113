import { expect, it } from 'vitest';
import { RequestSampler } from '../../src/tracing/sampler.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const SAMPLED = { ...CALLER, sampled: true };
const NOT_SAMPLED = { ...CALLER, sampled: false };

function count(sampler: RequestSampler, requests: number, caller: typeof SAMPLED | null): number {
  return Array.from({ length: requests }).filter(() => sampler.isSampled(caller)).length;
}

it('samples about the configured share, whatever trace id the caller chooses', () => {
  const sampler = new RequestSampler({ ratio: 0.1, followsCaller: false });
  // Five standard deviations of a binomial distribution are 150.
  for (const caller of [null, SAMPLED, NOT_SAMPLED]) {
    const found = count(sampler, 10_000, caller);
    expect(found).toBeGreaterThan(850);
    expect(found).toBeLessThan(1150);
  }
});

it('follows a sampled caller only up to a limit', () => {
  const sampler = new RequestSampler({ ratio: 0, followsCaller: true });
  const found = count(sampler, 10_000, SAMPLED);
  expect(found).toBeGreaterThanOrEqual(10);
  expect(found).toBeLessThan(100);
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
