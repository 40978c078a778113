import type { RailCall } from '../rail-call.ts';
import { requireToken } from './access-token.ts';
import { type KeyList, keyListBody } from './key-list.ts';
import { readKeyState } from './key-status.ts';

export const queryKeys: RailCall<KeyList> = {
  rail: 'BRE_B',
  operation: 'query',
  schema: keyListBody,
  authenticate: requireToken,
  answer: ({ state }, { keys }, at) => {
    const results = keys.map((key) => readKeyState(state.keys, key));
    const journaled = results.map(({ key, status }) => [key, status] as const);
    return { body: { results }, entry: { at, kind: 'breb.query', results: journaled } };
  },
};
