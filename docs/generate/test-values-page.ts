import { TEST_KEYS } from '../../simulator/src/breb/test-keys.ts';
import {
  LATE_ANSWER_MS,
  LATE_APPROVAL_MS,
  MAGIC_AFTER_MS,
  MAGIC_DOCUMENTS,
} from '../../simulator/src/magic-documents.ts';
import { code, parts, table } from './markdown.ts';
import type { Page } from './page.ts';

/** The result for the merchant. The keys must match the simulator's table exactly. */
const DOCUMENT_RESULTS: Readonly<Record<string, string>> = {
  '1000000001': '`CONFIRMED`',
  '1000000003': '`DECLINED`: `RAIL_REJECTED` on Bre-B, `INSUFFICIENT_FUNDS` on PSE',
  '1000000005': '`CANCELED`, `PAYER_CANCELED`',
  '1000000007': '`CANCELED` when it expires; the late money becomes an anomaly',
  '1000000009': '`CONFIRMED` once; on Bre-B the second payment becomes an anomaly',
  '1000000011':
    'Bre-B: `DECLINED`, `UNDERPAID`, with half in `confirmedAmountInCents`; a payment link stays `PENDING`. PSE: `CONFIRMED`',
  '1000000013':
    'Bre-B: `CONFIRMED` with the requested amount, the excess an anomaly; a payment link is `COMPLETED`. PSE: `CONFIRMED`',
  '1000000015': '`CONFIRMED`, once: the server retried. The response of a PSE payin is `PENDING`',
  '1000000017':
    '`CONFIRMED`; the response of a PSE payin is `PENDING`, because the rail took longer than 3 s',
  '1000000019':
    '`CONFIRMED`, because the server polls the rail: on Bre-B within one minute, on PSE after seven',
  '1000000021': '`DECLINED`: `RAIL_REJECTED` on Bre-B, `BANK_UNAVAILABLE` on PSE',
  '1000000023': 'PSE: `PROCESSING`, then `CANCELED`, `PAYER_ABANDONED`. Bre-B: `CANCELED` when it expires',
  '1000000025': '`CONFIRMED`',
};

const KEY_RESULTS: Readonly<Record<string, readonly [lookup: string, payout: string]>> = {
  '@TESTOK': ['200', '`CONFIRMED` about a second later'],
  '@TESTDECLINED': ['200', '`DECLINED`, `ACCOUNT_NOT_FOUND`; the money is available again'],
  '@TESTTIMEOUT': ['200', 'stays `PROCESSING` until you settle or reject it in the simulator'],
  '@TESTLOSTANSWER': ['200', '`CONFIRMED`, sent once, although the response was lost'],
  '@TESTSUSPENDED': ['422 `breb_key_suspended`', '`DECLINED`, `KEY_SUSPENDED`'],
  '@TESTNOTFOUND': ['404 `breb_key_not_found`', '`DECLINED`, `KEY_NOT_FOUND`'],
};

function requireSameKeys(what: string, ours: readonly string[], theirs: readonly string[]): void {
  const differences = [
    ...ours.filter((each) => !theirs.includes(each)),
    ...theirs.filter((each) => !ours.includes(each)),
  ];
  if (differences.length > 0)
    throw new Error(
      `test-values-page.ts and the simulator have different ${what}: ${differences.join(', ')}`,
    );
}

export function testValuesPage(): Page {
  const documents = MAGIC_DOCUMENTS.map(({ document }) => document);
  requireSameKeys('documents', Object.keys(DOCUMENT_RESULTS), documents);
  requireSameKeys('keys', Object.keys(KEY_RESULTS), [...TEST_KEYS.keys()]);
  return {
    slug: 'reference/test-values',
    title: 'Test values',
    description: 'Every test document number and test key of the simulator.',
    body: parts(
      'The server has no test mode: staging is a server connected to the simulator of the rails, which decides outcomes by these values. How to use them: [testing](/docs/guides/testing).',
      '## Payers’ documents',
      `In \`inlineCustomer.idNumber\` of a payin or a payment link, on both rails. The simulator acts ${MAGIC_AFTER_MS / 1000} seconds after the creation.`,
      table(
        ['idNumber', 'Rail behavior', 'Result'],
        MAGIC_DOCUMENTS.map(({ document, en }) => [code(document), en, DOCUMENT_RESULTS[document] ?? '']),
      ),
      `“Late” is after the key was closed on Bre-B, and ${LATE_APPROVAL_MS / 1000} seconds after \`expiresAt\` on PSE; a late response takes ${LATE_ANSWER_MS / 1000} seconds. Any other number waits until you pay with \`caudal simulate pay\` or on the simulator’s page.`,
      '## Bre-B keys',
      'In `breb.keyString` of a payout and in a lookup.',
      table(
        ['Key', 'Rail behavior', 'Lookup', 'Payout'],
        [...TEST_KEYS.values()].map(({ key, en }) => [code(key), en, ...(KEY_RESULTS[key] ?? ['', ''])]),
      ),
      'Any other key does not exist, unless you add it to the simulator’s directory.',
    ),
  };
}
