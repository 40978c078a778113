import { describe, expect, it, vi } from 'vitest';
import { makeLog } from '../../src/kit/log.ts';
import { type GuardActions, SendingGuard } from '../../src/organizations/sending-guard.ts';

const SEEN = { number: 1, mark: 'a', ageMs: 0 };
const OLD = { ...SEEN, ageMs: 60_000 };
const UNCONFIRMED = { hold: 'unconfirmed', newest: SEEN } as const;

function guarded() {
  const actions = {
    confirm: vi.fn<GuardActions['confirm']>(async () => true),
    pause: vi.fn<GuardActions['pause']>(async () => {}),
    insertMark: vi.fn<GuardActions['insertMark']>(async () => {}),
  };
  const guard = new SendingGuard(actions, makeLog({ level: 'silent', base: {} }));
  let beats = 0;
  /** A heartbeat, and the end of the write that it started. */
  const beat = async (reading: Parameters<SendingGuard['apply']>[0]) => {
    guard.apply(reading, (beats += 1));
    await new Promise(setImmediate);
  };
  return { actions, beat };
}

describe('the confirmation of a new timeline', () => {
  it('does not wait for a mark that failed while the primary was lost', async () => {
    const { actions, beat } = guarded();
    actions.insertMark.mockRejectedValue(new Error('disk full'));
    await beat({ hold: null, newest: OLD });
    await beat(UNCONFIRMED);
    expect(actions.confirm.mock.calls).toEqual([['a']]);
  });

  it('does not wait for a mark that the lost primary never answers', async () => {
    const { actions, beat } = guarded();
    actions.insertMark.mockReturnValue(new Promise(() => {}));
    await beat({ hold: null, newest: OLD });
    await beat(UNCONFIRMED);
    expect(actions.confirm).toHaveBeenCalledTimes(1);
  });

  it('is tried again two seconds after a failure', async () => {
    const { actions, beat } = guarded();
    await beat({ hold: null, newest: SEEN });
    actions.confirm.mockRejectedValueOnce(new Error('lock timeout'));
    for (let n = 0; n < 6; n += 1) await beat(UNCONFIRMED);
    expect(actions.confirm).toHaveBeenCalledTimes(1);
    await beat(UNCONFIRMED);
    expect(actions.confirm).toHaveBeenCalledTimes(2);
  });

  it('runs once at a time', async () => {
    const { actions, beat } = guarded();
    await beat({ hold: null, newest: SEEN });
    actions.confirm.mockReturnValue(new Promise(() => {}));
    await beat(UNCONFIRMED);
    await beat(UNCONFIRMED);
    expect(actions.confirm).toHaveBeenCalledTimes(1);
  });
});

it('marks that cannot be written are tried again only after 30 seconds', async () => {
  const { actions, beat } = guarded();
  actions.insertMark.mockRejectedValue(new Error('no standby'));
  for (let n = 0; n < 76; n += 1) await beat({ hold: null, newest: OLD });
  expect(actions.insertMark).toHaveBeenCalledTimes(1);
  await beat({ hold: null, newest: OLD });
  expect(actions.insertMark).toHaveBeenCalledTimes(2);
});
