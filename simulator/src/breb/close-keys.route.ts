import type { RailCall } from '../rail-call.ts';
import { refuseWithoutToken } from './access-token.ts';
import { storeClosing } from './key.store.ts';
import { type KeyList, keyListBody } from './key-list.ts';
import { keyStanding } from './key-status.ts';

export const closeKeys: RailCall<KeyList> = {
  rail: 'BRE_B',
  operation: 'close',
  schema: keyListBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, { keys }, at) => {
    const results = keys.map((key) => {
      storeClosing(state.keys, key, at);
      return keyStanding(state.keys, key);
    });
    return { body: { results }, entry: { at, kind: 'breb.close', keys } };
  },
};
