import { expect, it, onTestFinished, vi } from 'vitest';
import { LiveLimits } from '../../src/http/checkout/live-limits.ts';

/** Opens streams until one is rejected. */
function openAll(limits: LiveLimits, viewer: (index: number) => { token: string; address: string }) {
  const ends: (() => void)[] = [];
  for (let index = 0; index < 5000; index += 1) {
    const end = limits.openStream(viewer(index));
    if (end === null) break;
    ends.push(end);
  }
  return ends;
}

it('gives one page 50 streams, and another page at the same address its own', () => {
  const limits = new LiveLimits();
  const ends = openAll(limits, () => ({ token: 'a', address: '10.0.0.1' }));
  expect(ends).toHaveLength(50);
  expect(limits.openStream({ token: 'b', address: '10.0.0.1' })).not.toBeNull();
  ends[0]?.();
  ends[0]?.();
  expect(openAll(limits, () => ({ token: 'a', address: '10.0.0.2' }))).toHaveLength(1);
});

it('gives one address 500 streams; the addresses of an IPv6 network count as one', () => {
  const limits = new LiveLimits();
  const ends = openAll(limits, (index) => ({
    token: String(index),
    address: `2001:db8::${index.toString(16)}`,
  }));
  expect(ends).toHaveLength(500);
  expect(limits.openStream({ token: 'x', address: '10.0.0.1' })).not.toBeNull();
  for (const end of ends) end();
  expect(limits.openStream({ token: 'x', address: '2001:db8::1' })).not.toBeNull();
});

it('limits polls of one page to 1,200 a minute', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  onTestFinished(() => clock.mockRestore());
  const limits = new LiveLimits();
  const answers = Array.from({ length: 1201 }, (_, index) =>
    limits.takePoll({ token: 'a', address: `10.0.0.${index % 200}` }),
  );
  expect(answers.filter((seconds) => seconds !== null)).toHaveLength(1);
});
