import type { RailCall } from '../rail-call.ts';
import { requireToken } from './access-token.ts';
import { storeClosing } from './key.store.ts';
import { type KeyList, keyListBody } from './key-list.ts';
import { readKeyState } from './key-status.ts';

export const closeKeys: RailCall<KeyList> = {
  rail: 'BRE_B',
  operation: 'close',
  schema: keyListBody,
  authenticate: requireToken,
  answer: ({ state }, { keys }, at) => {
    const results = keys.map((key) => {
      storeClosing(state.keys, key, at);
      return readKeyState(state.keys, key);
    });
    return { body: { results }, entry: { at, kind: 'breb.close', keys } };
  },
};
