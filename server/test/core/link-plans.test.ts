import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAuthorization } from '../../src/customers/authorization.store.ts';
import type { Tx } from '../../src/db/tx.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { keyFromBytes } from '../../src/kit/crypto.ts';
import { cents } from '../../src/kit/money.ts';
import { countCompletedPayins } from '../../src/payins/completed-count.store.ts';
import { linkParts } from '../../src/payins/link-part.store.ts';
import { closeEarly, closeUnlocked } from '../../src/payins/payin-closing.store.ts';
import {
  attemptsOfLink,
  findPagePayin,
  insertPayer,
  pollSoon,
  readPageStamps,
} from '../../src/payins/payin-page.store.ts';
import { findLinks, insertLinks } from '../../src/payment-links/payment-link.store.ts';
import { listLinks } from '../../src/payment-links/payment-link-list.store.ts';
import {
  closeLinkToAttempts,
  endAttempts,
  expireLinks,
  lockLinks,
  reserveLinkForAttempt,
} from '../../src/payment-links/payment-link-outcome.store.ts';
import { singleKeyRing } from '../harness/key-ring.ts';
import { openPlans, organizationScans, type Plans, sequentialScans } from '../harness/plans.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const BYTES = Buffer.alloc(16);
const LINK = { organizationId: ID, id: ID };
const POSITION = { direction: 'older', id: ID } as const;

let plans: Plans;
beforeAll(async () => {
  plans = await openPlans();
});
afterAll(() => plans.close());

describe('the plan of each statement about links and pages, with empty tables', () => {
  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    [
      'insert links',
      (tx) =>
        insertLinks(tx, [
          {
            ...LINK,
            amount: cents(1),
            reference: 'r',
            description: null,
            callbackUrl: 'https://a.example/',
            rail: null,
            pseBank: null,
            customer: null,
            metadata: null,
            traceContext: null,
            createdBy: SYSTEM,
            dataKey: singleKeyRing(),
            hashKey: keyFromBytes(Buffer.alloc(32)),
          },
        ]),
    ],
    ['find links', (tx) => findLinks(tx, [LINK])],
    ['list links', (tx) => listLinks(tx, ID, {}, null, 11)],
    ['list links from a cursor', (tx) => listLinks(tx, ID, { status: 'PENDING' }, POSITION, 11)],
    ['list links by reference', (tx) => listLinks(tx, ID, { reference: 'r' }, null, 11)],
    ['reserve a link for an attempt', (tx) => reserveLinkForAttempt(tx, LINK, 'BRE_B', ID)],
    ['reserve a link for a PSE attempt', (tx) => reserveLinkForAttempt(tx, LINK, 'PSE', ID)],
    ['lock links', (tx) => lockLinks(tx, [LINK])],
    [
      'end attempts',
      (tx) => endAttempts(tx, [{ ...LINK, brebPayinId: ID, psePayinId: null, paid: cents(1), payinId: ID }]),
    ],
    ['expire links', (tx) => expireLinks(tx, 1000)],
    ['close a link', (tx) => closeLinkToAttempts(tx, LINK)],
    ['close a payin early', (tx) => closeEarly(tx, LINK)],
    ['close unlocked payins', (tx) => closeUnlocked(tx, [LINK])],
    ['parts of links', (tx) => linkParts(tx, [LINK])],
    [
      'insert an authorization',
      (tx) =>
        insertAuthorization(tx, singleKeyRing(), LINK, {
          textId: 'x',
          address: 'x',
          userAgent: 'x',
        }),
    ],
    ['count completed payins', (tx) => countCompletedPayins(tx, ID, ID)],
    ['the payin of a checkout page', (tx) => findPagePayin(tx, ID, ID)],
    ['the latest attempt of a link', (tx) => attemptsOfLink(tx, ID, ID)],
    ['attach a payer', (tx) => insertPayer(tx, LINK, { encryptedCustomer: BYTES, customerIndex: null }, ID)],
    ['poll soon', (tx) => pollSoon(tx, LINK)],
    ['watched payins', (tx) => readPageStamps(tx, [LINK])],
  ])('has no sequential scan of a growing table: %s', async (name, use) => {
    const plan = await plans.of(use);
    expect(sequentialScans(plan)).toEqual([]);
    expect(/list/.test(name) ? [] : organizationScans(plan)).toEqual([]);
  });

  it('finds links to expire by their time', async () => {
    const scans = (await plans.of((tx) => expireLinks(tx, 1000))).filter((line) =>
      /Scan .*payment_links_\d{6}/.test(line),
    );
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.some((line) => /closes_at_idx/.test(line))).toBe(true);
  });

  it('finds the latest attempt by its link, not by reading all payins of the organization', async () => {
    const scans = (await plans.of((tx) => attemptsOfLink(tx, ID, ID))).filter((line) =>
      /Scan .*payins_\d{6}/.test(line),
    );
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.filter((line) => !/payment_link_id/.test(line))).toEqual([]);
  });
});
