import { z } from 'zod';
import { findMagic } from '../magic-documents.ts';
import { type AnswerDelivery, type RailCall, toAnswerDelivery } from '../rail-call.ts';
import type { State } from '../state.ts';
import { BULK_LIMIT, currency, decimalAmount, isoTime } from '../wire.ts';
import { requireToken } from './access-token.ts';
import type { Directory } from './directory.store.ts';
import { DIRECTORY_MESSAGES } from './directory.ts';
import { type RegistrationRejectionCode, type RegistrationRow, storeRegistration } from './key.store.ts';
import { keyStatus } from './key-status.ts';
import { REGISTRABLE_KEY } from './key-type.ts';
import { TEST_KEYS } from './test-keys.ts';

const registerBody = z.object({
  keys: z
    .array(
      z.object({
        // Any text: an invalid key is rejected individually and must not fail the other 499.
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
  authenticate: requireToken,
  answer: ({ state }, body, at) => {
    const rows: RegistrationRow[] = [];
    let delivery: AnswerDelivery = 'sent';
    const results = body.keys.map((item) => {
      const { key, internalId, amount, expiresAt, payer } = item;
      const code = validate(state, item);
      const isNew = code === null && keyStatus(state.keys.byKey.get(key)) === 'NOT_FOUND';
      if (isNew) delivery = worseDelivery(delivery, toAnswerDelivery(findMagic(payer)));
      const row: RegistrationRow = [key, internalId, amount, expiresAt, payer, code];
      rows.push(row);
      // Stored before the next item is validated: a call may contain the same key twice.
      storeRegistration(state.keys, row, at);
      return code === null
        ? { key, status: 'REGISTERED' }
        : { key, status: 'REJECTED', code, message: DIRECTORY_MESSAGES[code] };
    });
    return { body: { results }, entry: { at, kind: 'breb.register', keys: rows }, delivery };
  },
};

/** The worst delivery of any key applies to the whole call: lost, then late, then sent. */
function worseDelivery(a: AnswerDelivery, b: AnswerDelivery): AnswerDelivery {
  if (a === 'lost' || b === 'lost') return 'lost';
  return a === 'late' ? a : b;
}

function validate(
  { keys, directory }: State,
  { key, internalId, payer }: RegisterItem,
): RegistrationRejectionCode | null {
  if (!REGISTRABLE_KEY.test(key)) return '4000';
  if (TEST_KEYS.has(key) || isListedByControl(directory, key)) return '4016';
  const record = keys.byKey.get(key);
  const status = keyStatus(record);
  if (status === 'NOT_FOUND') return findMagic(payer)?.ends === 'refused' ? '4016' : null;
  if (status !== 'REGISTERED') return '0004';
  return record?.registration?.internalId === internalId ? null : '4016';
}

function isListedByControl({ overrides }: Directory, key: string): boolean {
  return (overrides.get(key) ?? null) !== null;
}
