import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Answer, RailCall } from '../rail-call.ts';
import { requireToken } from './access-token.ts';
import { storeResolution } from './directory.store.ts';
import { DIRECTORY_MESSAGES, type DirectoryCode } from './directory.ts';
import { readKey } from './key-type.ts';
import { findHolder } from './listing.ts';

const resolveBody = z.object({ key: z.string().max(200) });

export const resolveKey: RailCall<z.infer<typeof resolveBody>> = {
  rail: 'BRE_B',
  operation: 'resolve',
  schema: resolveBody,
  authenticate: requireToken,
  answer: ({ state }, { key: text }, at) => {
    const read = readKey(text);
    if (read === null) return rejection(text, '4000', at);
    const holder = findHolder(state, read.key);
    if (typeof holder === 'string') return rejection(text, holder, at);
    const { key } = read;
    const resolutionId = randomUUID();
    storeResolution(state.directory, resolutionId, { key, holder, at });
    return {
      body: { resolutionId, ...read, ...holder },
      entry: { at, kind: 'breb.resolve', key, resolutionId, holder, code: null },
    };
  },
};

function rejection(key: string, code: DirectoryCode, at: string): Answer {
  return {
    status: 422,
    body: { code, message: DIRECTORY_MESSAGES[code] },
    entry: { at, kind: 'breb.resolve', key, resolutionId: null, holder: null, code },
  };
}
