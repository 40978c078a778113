import { describe, expect, it } from 'vitest';
import { Admission, type AdmissionSlot } from '../../src/kit/admission.ts';

function createAdmission(maxConcurrent: number) {
  const clock = { ms: 0, unreadMs: 0 };
  const admission = new Admission(
    maxConcurrent,
    () => clock.unreadMs,
    () => clock.ms,
  );
  const enter = (group: string, times: number): AdmissionSlot[] =>
    Array.from({ length: times }, () => admission.admit(group)).filter((slot) => slot !== null);
  /** Fills all slots, lets all requests take this long, and repeats `times` rounds. */
  const rounds = (times: number, tookMs: number, arriving = 2 * maxConcurrent) => {
    for (let round = 0; round < times; round += 1) {
      const slots = enter('shop', arriving);
      for (const slot of slots) slot.start();
      clock.ms += tookMs;
      for (const slot of slots) slot.release();
    }
  };
  return { clock, admission, enter, rounds };
}

describe('Admission', () => {
  it('admits as many requests as it has slots, and one more for each that leaves', () => {
    const { enter, admission } = createAdmission(4);
    const slots = enter('shop', 10);
    expect(slots).toHaveLength(4);
    slots[0]?.release();
    expect(enter('shop', 10)).toHaveLength(1);
    expect(admission.inFlight).toBe(4);
  });

  it('frees a slot once, however often it is released', () => {
    const { enter, admission } = createAdmission(4);
    const [slot] = enter('shop', 4);
    slot?.release();
    slot?.release();
    expect(admission.inFlight).toBe(3);
  });

  it('frees the slot of a client that disconnects before the work starts, and not after', () => {
    const { enter, admission } = createAdmission(4);
    const [waiting, working] = enter('shop', 2);
    working?.start();
    waiting?.onDisconnect();
    working?.onDisconnect();
    expect(admission.inFlight).toBe(1);
    working?.release();
    expect(admission.inFlight).toBe(0);
  });

  it('keeps an equal share for latecomers: a flood of one organization does not block others', () => {
    const { enter } = createAdmission(100);
    expect(enter('flood', 1000)).toHaveLength(100);
    expect(enter('quiet', 60)).toHaveLength(50);
    expect(enter('flood', 10)).toHaveLength(0);
    expect(enter('third', 60)).toHaveLength(33);
  });

  it('never exceeds twice its limit, however many groups arrive', () => {
    const { enter, admission } = createAdmission(20);
    for (let group = 0; group < 200; group += 1) enter(`group ${group}`, 3);
    expect(admission.inFlight).toBe(40);
  });

  it('lowers its limit while requests are slow, down to a minimum, and raises it again later', () => {
    const { admission, rounds } = createAdmission(512);
    rounds(3, 400);
    expect(admission.limit).toBeLessThan(400);
    rounds(60, 400);
    expect(admission.limit).toBe(64);
    rounds(400, 30);
    expect(admission.limit).toBeGreaterThan(400);
  });

  it('lowers its limit while requests wait unread, although admitted ones are fast', () => {
    const { clock, admission, rounds } = createAdmission(512);
    clock.unreadMs = 300;
    rounds(60, 30);
    expect(admission.limit).toBeLessThan(200);
  });

  it('does not count a slowly sent body as slow work', () => {
    const { clock, admission, enter } = createAdmission(100);
    for (let round = 0; round < 50; round += 1) {
      const slow = enter('slow', 100);
      clock.ms += 20_000;
      const quick = enter('quick', 10);
      for (const slot of quick) slot.start();
      clock.ms += 10;
      for (const slot of quick) slot.release();
      for (const slot of slow) slot.onDisconnect();
    }
    expect(admission.limit).toBe(100);
    expect(enter('slow', 100)).toHaveLength(100);
    expect(enter('quick', 10)).toHaveLength(10);
  });

  it('keeps its limit when requests are always slow, busy or not', () => {
    const { admission, rounds } = createAdmission(512);
    rounds(30, 230, 20);
    rounds(60, 240);
    expect(admission.limit).toBe(512);
  });

  it('is not lowered by slow requests that never filled it', () => {
    const { admission, rounds } = createAdmission(512);
    rounds(50, 2000, 100);
    expect(admission.limit).toBe(512);
  });
});
