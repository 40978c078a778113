import { z } from 'zod';
import { text } from '../fields.ts';
import { merchantOperation } from '../operation.ts';
import { expectedHolder, KEY_LOOKUP_PROBLEMS, KEY_LOOKUP_RESPONSES, lookUp } from './look-up-key.route.ts';

export const createKeyLookup = merchantOperation({
  method: 'POST',
  path: '/breb/keys/lookup',
  operationId: 'createBrebKeyLookup',
  tag: 'Payouts',
  summary: 'Look up a Bre-B key',
  description:
    'Shows who receives money sent to a key, before you send it. Personal data is masked. Send the expected `name` or `documentNumber`, and `match` in the response tells whether it matches the holder. Key, name and document number are in the body, where they do not reach the access logs of proxies. The request counts as a read.\n\nA payout created before `expiresAt` uses this lookup: if the key has a different holder by then, the payout is declined with `RECEIVER_MISMATCH`. Lookups are limited per organization: keys that do not exist and holders that do not match count most; a lookup followed by a payout does not count.',
  scope: 'breb_keys:read',
  readOnly: true,
  body: z
    .strictObject({
      keyString: text(1, 200).describe('The key.').meta({ example: '@TESTOK' }),
      ...expectedHolder,
    })
    .meta({ id: 'CreateBrebKeyLookup' }),
  bodyExamples: {
    name: {
      summary: 'With the expected name',
      value: { keyString: '@TESTOK', name: 'Janeth Smith Prueba' },
    },
  },
  responses: KEY_LOOKUP_RESPONSES,
  problems: KEY_LOOKUP_PROBLEMS,

  handle: (deps, principal, { body: { keyString, ...expected }, releaseSlot }) => {
    releaseSlot();
    return lookUp(deps, principal, keyString, expected);
  },
});
