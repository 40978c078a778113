import type { RailCall } from '../rail-call.ts';
import { refuseWithoutToken } from './access-token.ts';
import { type KeyList, keyListBody } from './key-list.ts';
import { keyStanding } from './key-status.ts';

export const queryKeys: RailCall<KeyList> = {
  rail: 'BRE_B',
  operation: 'query',
  schema: keyListBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, { keys }, at) => {
    const results = keys.map((key) => keyStanding(state.keys, key));
    const told = results.map(({ key, status }) => [key, status] as const);
    return { body: { results }, entry: { at, kind: 'breb.query', results: told } };
  },
};
