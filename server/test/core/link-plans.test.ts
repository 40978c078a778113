import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAuthorization } from '../../src/customers/authorization.store.ts';
import type { Tx } from '../../src/db/tx.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import { cents } from '../../src/kit/money.ts';
import { closeEarly } from '../../src/payins/payin-closing.store.ts';
import {
  askSoon,
  findPagePayin,
  insertPayer,
  latestAttempt,
  watchedPayins,
} from '../../src/payins/payin-page.store.ts';
import { findLinks, insertLinks } from '../../src/payment-links/payment-link.store.ts';
import { listLinks } from '../../src/payment-links/payment-link-list.store.ts';
import {
  endAttempts,
  expireLinks,
  lockLinks,
  shutLink,
  takeLink,
} from '../../src/payment-links/payment-link-outcome.store.ts';
import { openPlans, type Plans, readByOrganization, readWhole } from '../harness/plans.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const BYTES = Buffer.alloc(16);
const LINK = { organizationId: ID, id: ID };
const POSITION = { direction: 'older', id: ID } as const;

let plans: Plans;
beforeAll(async () => {
  plans = await openPlans();
});
afterAll(() => plans.close());

describe('the plan of each statement about links and pages, made when all tables are empty', () => {
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
            bank: null,
            sealedCustomer: null,
          },
        ]),
    ],
    ['find links', (tx) => findLinks(tx, [LINK])],
    ['list links', (tx) => listLinks(tx, ID, {}, null, 11)],
    ['list links from a cursor', (tx) => listLinks(tx, ID, { status: 'PENDING' }, POSITION, 11)],
    ['list links by reference', (tx) => listLinks(tx, ID, { reference: 'r' }, null, 11)],
    ['take a link for an attempt', (tx) => takeLink(tx, LINK, ID)],
    ['lock links', (tx) => lockLinks(tx, [LINK])],
    ['end attempts', (tx) => endAttempts(tx, [{ ...LINK, payinId: ID, completes: true }])],
    ['expire links', (tx) => expireLinks(tx, 1000)],
    ['shut a link', (tx) => shutLink(tx, LINK)],
    ['close a payin early', (tx) => closeEarly(tx, LINK)],
    [
      'keep an authorization',
      (tx) =>
        insertAuthorization(tx, keyFromSecret('a key of a test'), LINK, {
          textId: 'x',
          address: 'x',
          userAgent: 'x',
        }),
    ],
    ['the payin of a page', (tx) => findPagePayin(tx, ID, ID)],
    ['the latest attempt of a link', (tx) => latestAttempt(tx, ID, ID)],
    ['give a payer', (tx) => insertPayer(tx, LINK, BYTES, ID)],
    ['ask soon', (tx) => askSoon(tx, LINK)],
    ['watched payins', (tx) => watchedPayins(tx, [LINK])],
  ])('reads no growing table whole: %s', async (name, use) => {
    const plan = await plans.of(use);
    expect(readWhole(plan)).toEqual([]);
    expect(/list/.test(name) ? [] : readByOrganization(plan)).toEqual([]);
  });

  it('finds links to expire among all that wait, by their time', async () => {
    const scans = (await plans.of((tx) => expireLinks(tx, 1000))).filter((line) =>
      /Scan .*payment_links_\d{6}/.test(line),
    );
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.some((line) => /shuts_at_idx/.test(line))).toBe(true);
  });

  it('finds the latest attempt by the link, not by reading the payins of an organization', async () => {
    const scans = (await plans.of((tx) => latestAttempt(tx, ID, ID))).filter((line) =>
      /Scan .*payins_\d{6}/.test(line),
    );
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.filter((line) => !/payment_link_id/.test(line))).toEqual([]);
  });
});
