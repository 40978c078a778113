import { z } from 'zod';
import { magicOf } from '../magic-documents.ts';
import { type AnswerFate, fateOf, type RailCall } from '../rail-call.ts';
import type { State } from '../state.ts';
import { BULK_LIMIT, currency, decimalAmount, isoTime } from '../wire.ts';
import { refuseWithoutToken } from './access-token.ts';
import type { Directory } from './directory.store.ts';
import { DIRECTORY_MESSAGES } from './directory.ts';
import { type RefusalCode, type RegistrationRow, storeRegistration } from './key.store.ts';
import { keyStatus } from './key-status.ts';
import { REGISTRABLE_KEY } from './key-type.ts';
import { TEST_KEYS } from './test-keys.ts';

const registerBody = z.object({
  keys: z
    .array(
      z.object({
        // Any text: a bad key is refused alone and must not take 499 good ones with it.
        key: z.string().max(100),
        internalId: z.guid(),
        amount: decimalAmount,
        currency,
        expiresAt: isoTime,
        payer: z
          .object({
            documentType: z.string().min(1).max(20),
            documentNumber: z.string().min(1).max(40),
            name: z.string().min(1).max(200),
          })
          .nullable(),
      }),
    )
    .min(1)
    .max(BULK_LIMIT),
});

type RegisterItem = z.infer<typeof registerBody>['keys'][number];

export const registerKeys: RailCall<z.infer<typeof registerBody>> = {
  rail: 'BRE_B',
  operation: 'register',
  schema: registerBody,
  refuse: refuseWithoutToken,
  answer: ({ state }, body, at) => {
    const rows: RegistrationRow[] = [];
    let fate: AnswerFate = 'sent';
    const results = body.keys.map((item) => {
      const { key, internalId, amount, expiresAt, payer } = item;
      const code = judge(state, item);
      const isNew = code === null && keyStatus(state.keys.byKey.get(key)) === 'NOT_FOUND';
      if (isNew) fate = worse(fate, fateOf(magicOf(payer)));
      const row: RegistrationRow = [key, internalId, amount, expiresAt, payer, code];
      rows.push(row);
      // Stored before the next one is judged: a key may stand twice in one call.
      storeRegistration(state.keys, row, at);
      return code === null
        ? { key, status: 'REGISTERED' }
        : { key, status: 'REJECTED', code, message: DIRECTORY_MESSAGES[code] };
    });
    return { body: { results }, entry: { at, kind: 'breb.register', keys: rows }, fate };
  },
};

/** One key's fate is the whole call's, and a lost answer cannot also come late. */
function worse(a: AnswerFate, b: AnswerFate): AnswerFate {
  if (a === 'lost' || b === 'lost') return 'lost';
  return a === 'late' ? a : b;
}

function judge({ keys, directory }: State, { key, internalId, payer }: RegisterItem): RefusalCode | null {
  if (!REGISTRABLE_KEY.test(key)) return '4000';
  if (TEST_KEYS.has(key) || isListed(directory, key)) return '4016';
  const known = keys.byKey.get(key);
  const status = keyStatus(known);
  if (status === 'NOT_FOUND') return magicOf(payer)?.ends === 'refused' ? '4016' : null;
  if (status !== 'REGISTERED') return '0004';
  return known?.registration?.internalId === internalId ? null : '4016';
}

function isListed({ listed }: Directory, key: string): boolean {
  return (listed.get(key) ?? null) !== null;
}
