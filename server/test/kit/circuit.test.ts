import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Circuit } from '../../src/kit/circuit.ts';

let now = 1000;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function circuit(): Circuit {
  return new Circuit({ failuresToOpen: 3, restMs: 2000 });
}

function opened(): Circuit {
  const broken = circuit();
  for (let failure = 0; failure < 3; failure += 1) broken.failed();
  return broken;
}

describe('a circuit', () => {
  it('lets calls through until enough of them have failed in a row', () => {
    const subject = circuit();
    subject.failed();
    subject.failed();
    expect(subject.allows()).toBe(true);
    expect(subject.open).toBe(false);
    subject.failed();
    expect(subject.allows()).toBe(false);
    expect(subject.open).toBe(true);
  });

  it('counts only failures in a row', () => {
    const subject = circuit();
    for (let round = 0; round < 10; round += 1) {
      subject.failed();
      subject.failed();
      subject.succeeded();
    }
    expect(subject.open).toBe(false);
    expect(subject.allows()).toBe(true);
  });

  it('holds everything back while it rests, and then lets one probe through and no second', () => {
    const subject = opened();
    now += 1999;
    expect(subject.allows()).toBe(false);
    now += 1;
    expect(subject.allows()).toBe(true);
    expect([subject.allows(), subject.allows()]).toEqual([false, false]);
    now += 60_000;
    expect(subject.allows()).toBe(false);
  });

  it('is resting whenever it would hold back the next call, and asking so does not use up the probe', () => {
    const subject = circuit();
    expect(subject.resting).toBe(false);
    for (let failure = 0; failure < 3; failure += 1) subject.failed();
    expect(subject.resting).toBe(true);
    now += 2000;
    // A worker that looks first must see the moment to probe, else nobody ever closes the circuit again.
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

  it('closes when the probe succeeds, and then it takes as many failures as before to open it', () => {
    const subject = opened();
    now += 2000;
    subject.allows();
    subject.succeeded();
    expect(subject.open).toBe(false);
    expect([subject.allows(), subject.allows()]).toEqual([true, true]);
    subject.failed();
    subject.failed();
    expect(subject.allows()).toBe(true);
  });

  it('rests again as long when the probe fails, and then probes again', () => {
    const subject = opened();
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

  it('is closed by a call that was under way when it opened and succeeded after all', () => {
    const subject = opened();
    subject.succeeded();
    expect(subject.open).toBe(false);
    expect(subject.allows()).toBe(true);
  });
});
