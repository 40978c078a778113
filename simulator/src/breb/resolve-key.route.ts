import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { nowMs } from '../clock.ts';
import type { RailCall } from '../rail-call.ts';
import type { State } from '../state.ts';
import { refuseWithoutToken } from './access-token.ts';
import { COLLECTOR, DIRECTORY_MESSAGES, type Resolution, TEST_KEYS } from './directory.ts';
import { keyStatus } from './key-standing.ts';
import { readKey } from './key-type.ts';

const resolveBody = z.object({ key: z.string().max(200) });

export const resolveKey: RailCall<z.infer<typeof resolveBody>> = {
  rail: 'BRE_B',
  operation: 'resolve',
  schema: resolveBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, { key }, at) => {
    const found = resolve(state, key);
    if (typeof found === 'string') {
      return {
        status: 422,
        body: { code: found, message: DIRECTORY_MESSAGES[found] },
        entry: { at, kind: 'breb.resolve', key, resolutionId: null, code: found },
      };
    }
    const { resolutionId } = found;
    return { body: found, entry: { at, kind: 'breb.resolve', key: found.key, resolutionId, code: null } };
  },
};

function resolve(state: State, text: string): Resolution | '0004' | '0005' | '4000' {
  const read = readKey(text);
  if (read === null) return '4000';
  const resolutionId = randomUUID();
  const test = TEST_KEYS.get(read.key);
  if (test !== undefined) return 'code' in test ? test.code : { resolutionId, ...read, ...test.holder };
  return isPayable(state, read.key) ? { resolutionId, ...read, ...COLLECTOR } : '0004';
}

/** An expired key stays REGISTERED until it is closed, but nobody can send money to it any more. */
function isPayable({ keys, clock }: State, key: string): boolean {
  const known = keys.byKey.get(key);
  if (known === undefined || keyStatus(known) !== 'REGISTERED') return false;
  return nowMs(clock) < Date.parse(known.registration?.expiresAt ?? '');
}
