import { TEST_KEYS } from '../../simulator/src/breb/test-keys.ts';
import {
  LATE_ANSWER_MS,
  LATE_APPROVAL_MS,
  MAGIC_AFTER_MS,
  MAGIC_DOCUMENTS,
} from '../../simulator/src/magic-documents.ts';
import { code, parts, table } from './markdown.ts';
import type { Page } from './page.ts';

/** What a merchant sees of it. Checked against the simulator's own tables in both directions. */
const OF_DOCUMENTS: Readonly<Record<string, string>> = {
  '1000000001': '`CONFIRMED`',
  '1000000003': '`DECLINED`: `RAIL_REJECTED` on Bre-B, `INSUFFICIENT_FUNDS` on PSE',
  '1000000005': '`CANCELED`, `PAYER_CANCELED`',
  '1000000007': '`CANCELED` when it expires; the late money becomes an anomaly',
  '1000000009': '`CONFIRMED` once; on Bre-B the second payment becomes an anomaly',
  '1000000011':
    'Bre-B: `DECLINED`, `UNDERPAID`, with half in `confirmedAmountInCents`; a payment link stays `PENDING`. PSE: `CONFIRMED`',
  '1000000013':
    'Bre-B: `CONFIRMED` with the requested amount, the excess an anomaly; a payment link is `COMPLETED`. PSE: `CONFIRMED`',
  '1000000015': '`CONFIRMED`, once: we asked again. A PSE payin is answered `PENDING` first',
  '1000000017': '`CONFIRMED`; a PSE payin is answered `PENDING` first, because the rail took longer than 3 s',
  '1000000019':
    '`CONFIRMED` all the same, because we ask the rail by ourselves: on Bre-B within a minute, on PSE after seven',
  '1000000021': '`DECLINED`: `RAIL_REJECTED` on Bre-B, `BANK_UNAVAILABLE` on PSE',
};

const OF_KEYS: Readonly<Record<string, readonly [lookup: string, payout: string]>> = {
  '@TESTOK': ['200', '`CONFIRMED` about a second later'],
  '@TESTDECLINED': ['200', '`DECLINED`, `ACCOUNT_NOT_FOUND`; the money is available again'],
  '@TESTTIMEOUT': ['200', 'stays `PROCESSING`: the rail never decides, until you end it at the simulator'],
  '@TESTLOSTANSWER': ['200', '`CONFIRMED`, sent once, although the answer was lost'],
  '@TESTSUSPENDED': ['422 `breb_key_suspended`', '`DECLINED`, `KEY_SUSPENDED`'],
  '@TESTNOTFOUND': ['404 `breb_key_not_found`', '`DECLINED`, `KEY_NOT_FOUND`'],
};

function same(what: string, ours: readonly string[], theirs: readonly string[]): void {
  const odd = [
    ...ours.filter((each) => !theirs.includes(each)),
    ...theirs.filter((each) => !ours.includes(each)),
  ];
  if (odd.length > 0)
    throw new Error(`test-values-page.ts and the simulator differ about ${what}: ${odd.join(', ')}`);
}

export function testValuesPage(): Page {
  const documents = MAGIC_DOCUMENTS.map(({ document }) => document);
  same('documents', Object.keys(OF_DOCUMENTS), documents);
  same('keys', Object.keys(OF_KEYS), [...TEST_KEYS.keys()]);
  return {
    slug: 'reference/test-values',
    title: 'Test values',
    description: 'Every magic document number and test key of the simulator.',
    body: parts(
      'The server has no test mode: staging is a server connected to the simulator of the rails, which decides by these values. How to use them: [testing](/docs/guides/testing).',
      '## Payers’ documents',
      `In \`inlineCustomer.idNumber\` of a payin or a payment link, on both rails. It happens by itself, ${MAGIC_AFTER_MS / 1000} seconds after the creation.`,
      table(
        ['idNumber', 'The rail', 'You see'],
        MAGIC_DOCUMENTS.map(({ document, en }) => [code(document), en, OF_DOCUMENTS[document] ?? '']),
      ),
      `“Late” is after the key was closed on Bre-B, and ${LATE_APPROVAL_MS / 1000} seconds after \`expiresAt\` on PSE; a late answer takes ${LATE_ANSWER_MS / 1000} seconds. Any other number waits until somebody pays: you, with \`caudal simulate pay\` or on the simulator’s own page.`,
      '## Bre-B keys',
      'In `breb.keyString` of a payout and in a lookup.',
      table(
        ['Key', 'The rail', 'Lookup', 'Payout'],
        [...TEST_KEYS.values()].map(({ key, en }) => [code(key), en, ...(OF_KEYS[key] ?? ['', ''])]),
      ),
      'Any other key does not exist, unless you list it in the simulator’s directory.',
    ),
  };
}
