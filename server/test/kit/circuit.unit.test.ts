import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Circuit } from '../../src/kit/circuit.ts';

let now = 1000;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function createCircuit(): Circuit {
  return new Circuit({ failuresToOpen: 3, restMs: 2000 });
}

function openCircuit(): Circuit {
  const broken = createCircuit();
  for (let failure = 0; failure < 3; failure += 1) broken.failed();
  return broken;
}

describe('Circuit', () => {
  it('allows calls until enough have failed in a row', () => {
    const subject = createCircuit();
    subject.failed();
    subject.failed();
    expect(subject.allows()).toBe(true);
    expect(subject.open).toBe(false);
    subject.failed();
    expect(subject.allows()).toBe(false);
    expect(subject.open).toBe(true);
  });

  it('counts only consecutive failures', () => {
    const subject = createCircuit();
    for (let round = 0; round < 10; round += 1) {
      subject.failed();
      subject.failed();
      subject.succeeded();
    }
    expect(subject.open).toBe(false);
    expect(subject.allows()).toBe(true);
  });

  it('rejects calls while open, then allows exactly one probe', () => {
    const subject = openCircuit();
    now += 1999;
    expect(subject.allows()).toBe(false);
    now += 1;
    expect(subject.allows()).toBe(true);
    expect([subject.allows(), subject.allows()]).toEqual([false, false]);
    now += 60_000;
    expect(subject.allows()).toBe(false);
  });

  it('is resting whenever it would reject the next call, and reading that does not use up the probe', () => {
    const subject = createCircuit();
    expect(subject.resting).toBe(false);
    for (let failure = 0; failure < 3; failure += 1) subject.failed();
    expect(subject.resting).toBe(true);
    now += 2000;
    // A worker that checks first must see when to probe, else the circuit never closes.
    expect([subject.resting, subject.resting]).toEqual([false, false]);
    expect(subject.allows()).toBe(true);
    expect(subject.resting).toBe(true);
    subject.failed();
    expect(subject.resting).toBe(true);
    now += 2000;
    subject.allows();
    subject.succeeded();
    expect(subject.resting).toBe(false);
  });

  it('closes when the probe succeeds, and then needs as many failures as before to open', () => {
    const subject = openCircuit();
    now += 2000;
    subject.allows();
    subject.succeeded();
    expect(subject.open).toBe(false);
    expect([subject.allows(), subject.allows()]).toEqual([true, true]);
    subject.failed();
    subject.failed();
    expect(subject.allows()).toBe(true);
  });

  it('rests equally long when the probe fails, and then probes again', () => {
    const subject = openCircuit();
    for (let round = 0; round < 3; round += 1) {
      now += 2000;
      expect(subject.allows()).toBe(true);
      subject.failed();
      expect(subject.allows()).toBe(false);
      now += 1999;
      expect(subject.allows()).toBe(false);
      now -= 1999;
    }
  });

  it('is closed by a call in flight that succeeds after it opened', () => {
    const subject = openCircuit();
    subject.succeeded();
    expect(subject.open).toBe(false);
    expect(subject.allows()).toBe(true);
  });
});
