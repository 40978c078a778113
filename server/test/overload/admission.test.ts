import { describe, expect, it } from 'vitest';
import { Admission, type AdmissionSlot } from '../../src/kit/admission.ts';

function house(most: number) {
  const clock = { ms: 0, unreadMs: 0 };
  const admission = new Admission(
    most,
    () => clock.unreadMs,
    () => clock.ms,
  );
  const enter = (group: string, times: number): AdmissionSlot[] =>
    Array.from({ length: times }, () => admission.enter(group)).filter((slot) => slot !== null);
  /** Fills it, and all of them take so long; `times` rounds. */
  const rounds = (times: number, tookMs: number, come = 2 * most) => {
    for (let round = 0; round < times; round += 1) {
      const places = enter('shop', come);
      for (const slot of places) slot.begin();
      clock.ms += tookMs;
      for (const slot of places) slot.leave();
    }
  };
  return { clock, admission, enter, rounds };
}

describe('a house with so many places', () => {
  it('lets in as many as there are, and one more for each that leaves', () => {
    const { enter, admission } = house(4);
    const places = enter('shop', 10);
    expect(places).toHaveLength(4);
    places[0]?.leave();
    expect(enter('shop', 10)).toHaveLength(1);
    expect(admission.inside).toBe(4);
  });

  it('gives a place back once, however often it is left', () => {
    const { enter, admission } = house(4);
    const [slot] = enter('shop', 4);
    slot?.leave();
    slot?.leave();
    expect(admission.inside).toBe(3);
  });

  it('is left by a client that hangs up before the work has begun, and not after', () => {
    const { enter, admission } = house(4);
    const [waiting, working] = enter('shop', 2);
    working?.begin();
    waiting?.hungUp();
    working?.hungUp();
    expect(admission.inside).toBe(1);
    working?.leave();
    expect(admission.inside).toBe(0);
  });

  it('keeps an equal share for who comes late: the flood of one shuts out nobody else', () => {
    const { enter } = house(100);
    expect(enter('flood', 1000)).toHaveLength(100);
    expect(enter('quiet', 60)).toHaveLength(50);
    expect(enter('flood', 10)).toHaveLength(0);
    expect(enter('third', 60)).toHaveLength(33);
  });

  it('is never more than twice full, however many groups come', () => {
    const { enter, admission } = house(20);
    for (let group = 0; group < 200; group += 1) enter(`group ${group}`, 3);
    expect(admission.inside).toBe(40);
  });

  it('lets in fewer while those inside take too long, down to a few, and all of them again later', () => {
    const { admission, rounds } = house(512);
    rounds(3, 400);
    expect(admission.limit).toBeLessThan(400);
    rounds(60, 400);
    expect(admission.limit).toBe(64);
    rounds(400, 30);
    expect(admission.limit).toBeGreaterThan(400);
  });

  it('lets in fewer while requests wait unread, though those inside are done soon', () => {
    const { clock, admission, rounds } = house(512);
    clock.unreadMs = 300;
    rounds(60, 30);
    expect(admission.limit).toBeLessThan(200);
  });

  it('does not take a client that sends its body slowly for work that takes long', () => {
    const { clock, admission, enter } = house(100);
    for (let round = 0; round < 50; round += 1) {
      const slow = enter('slow', 100);
      clock.ms += 20_000;
      const quick = enter('quick', 10);
      for (const slot of quick) slot.begin();
      clock.ms += 10;
      for (const slot of quick) slot.leave();
      for (const slot of slow) slot.hungUp();
    }
    expect(admission.limit).toBe(100);
    expect(enter('slow', 100)).toHaveLength(100);
    expect(enter('quick', 10)).toHaveLength(10);
  });

  it('keeps its places where everything takes long, busy or not', () => {
    const { admission, rounds } = house(512);
    rounds(30, 230, 20);
    rounds(60, 240);
    expect(admission.limit).toBe(512);
  });

  it('is not made smaller by slow requests that never filled it', () => {
    const { admission, rounds } = house(512);
    rounds(50, 2000, 100);
    expect(admission.limit).toBe(512);
  });
});
