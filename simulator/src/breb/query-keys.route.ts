import type { RailCall } from '../rail-call.ts';
import { refuseWithoutToken } from './access-token.ts';
import { keyStatus } from './key.store.ts';
import { type KeyList, keyListBody } from './key-list.ts';

export const queryKeys: RailCall<KeyList> = {
  rail: 'BRE_B',
  operation: 'query',
  schema: keyListBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, { keys }, at) => {
    const results = keys.map((key) => {
      const known = state.keys.byKey.get(key);
      if (known === undefined) return { key, status: 'NOT_FOUND', expiresAt: null, payments: [] };
      const expiresAt = known.registration?.expiresAt ?? null;
      return { key, status: keyStatus(known), expiresAt, payments: known.payments };
    });
    const told = results.map(({ key, status }) => [key, status] as const);
    return { body: { results }, entry: { at, kind: 'breb.query', results: told } };
  },
};
