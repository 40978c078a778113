import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acceptAnomaly,
  lockAnomalyOfPayin,
  resolveAccepted,
  resolveAcceptedOne,
} from '../../src/anomalies/acceptance.store.ts';
import {
  anomaliesOfPayin,
  anomaliesOfPayout,
  countHeldSettlements,
  insertAnomalies,
  lockAnomaly,
  openAnomalies,
  reopenReturned,
  reopenReversed,
  resolveAnomaly,
  resolveListed,
} from '../../src/anomalies/anomaly.store.ts';
import { listActions, recordAction } from '../../src/audit/operator-action.store.ts';
import type { Tx } from '../../src/db/tx.ts';
import { recordFinalEvents } from '../../src/events/event.store.ts';
import {
  purgeIdempotencyKeys,
  releaseIdempotencyKeys,
  reserveIdempotencyKeys,
} from '../../src/idempotency/idempotency.store.ts';
import { releaseReferences, reserveReferences } from '../../src/idempotency/reference.store.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { keyFromBytes } from '../../src/kit/crypto.ts';
import { cents } from '../../src/kit/money.ts';
import { lockAvailable, lockBalance, readBalances } from '../../src/ledger/balance.store.ts';
import { listEntries } from '../../src/ledger/entry-list.store.ts';
import { post, postedCauses, resourcesOfCauses } from '../../src/ledger/ledger.store.ts';
import { postingByCause, postingById } from '../../src/ledger/reversal.store.ts';
import { closeSpan, sharedBalance } from '../../src/ledger/subtotal.store.ts';
import { readPulse, touchKeys } from '../../src/organizations/credential.store.ts';
import { advanceIdClock } from '../../src/organizations/id-clock.store.ts';
import { leaseDueKeys, readKeyBacklog, recordRegistrations } from '../../src/payins/breb-key.store.ts';
import { findPayin, findPayins, insertPayins } from '../../src/payins/payin.store.ts';
import { keyRegistration, payinDetails, payinHistory } from '../../src/payins/payin-details.store.ts';
import { releaseSettlement, reverseSettlement } from '../../src/payins/payin-hold.store.ts';
import { releaseLeases } from '../../src/payins/payin-lease.store.ts';
import { listPayins } from '../../src/payins/payin-list.store.ts';
import {
  findPayinsByBrebKeys,
  leaseTasks,
  lockPayins,
  postponeTasks,
  reschedulePayins,
  transitionPayins,
} from '../../src/payins/payin-outcome.store.ts';
import {
  payinsByCus,
  payinsById,
  payinsByReference,
  payinsCreatedWithin,
} from '../../src/payins/payin-search.store.ts';
import {
  lockSettlingPayins,
  queryBeforeSettling,
  settlePayins,
} from '../../src/payins/payin-settlement.store.ts';
import { leaseDuePsePayins, recordPages } from '../../src/payins/pse-payin.store.ts';
import { findLookups, insertLookup, purgeLookups } from '../../src/payouts/lookup.store.ts';
import {
  chargeMisses,
  exhaustedMisses,
  refundLookupTokens,
  refundUsedLookups,
  takeLookupTokens,
} from '../../src/payouts/lookup-bucket.store.ts';
import { findPayouts, insertPayouts } from '../../src/payouts/payout.store.ts';
import { accountedExecutions, recordExecutions } from '../../src/payouts/payout-execution.store.ts';
import { paidBefore, receiverUsage, releaseUsage } from '../../src/payouts/payout-limits.store.ts';
import { listPayouts } from '../../src/payouts/payout-list.store.ts';
import {
  adoptExecutions,
  cancelUnsent,
  findPayoutOwner,
  type LockedPayout,
  lastRejections,
  leasePolls,
  listAttempts,
  listUnknown,
  lockPayouts,
  reschedulePayouts,
  transitionPayouts,
  waitingPayouts,
} from '../../src/payouts/payout-outcome.store.ts';
import {
  commitAttempts,
  countWaitingPayouts,
  leaseExpiredResolutions,
  recordAnswers,
  recordResolutionRefreshes,
  scheduleResend,
  waitingOrganizations,
} from '../../src/payouts/payout-send.store.ts';
import {
  concludeNotices,
  insertNotices,
  leaseUnverifiedNotices,
  lockDueNotice,
  lockDueNotices,
} from '../../src/rail-notices/notice.store.ts';
import { singleKeyRing } from '../harness/key-ring.ts';
import { openPlans, organizationScans, type Plans, sequentialScans } from '../harness/plans.ts';

const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const HASH = Buffer.alloc(16);
const SECRETS = { dataKey: singleKeyRing(), hashKey: keyFromBytes(Buffer.alloc(32)) };
const KEY = '@CDL01301KR96NVZ4KX8';
let plans: Plans;
beforeAll(async () => {
  plans = await openPlans();
});
afterAll(() => plans.close());

const PAYIN = { organizationId: ID, id: ID };
const ALL_ACTIONS = { organizationId: null, operator: null, action: null, since: null };
const ANSWER = { leaseToken: ID, settlementDelayMinutes: 0 };
const RESERVATION = { organizationId: ID, keyHash: HASH, bodyHash: HASH, resourceId: ID };
const TRANSITION = {
  from: 'PROCESSING',
  to: 'CANCELED',
  confirmedAmount: null,
  errorCode: 'EXPIRED',
  settles: false,
  earlierParts: null,
  payment: null,
  cause: 'expired_unpaid',
} as const;
const NOTICE = {
  rail: 'PSE',
  about: 'payin',
  noticeId: null,
  reference: 'r',
  update: { kind: 'refused', errorCode: 'RAIL_REJECTED' },
  encryptedRaw: null,
} as const;
const ANOMALY = {
  payinId: ID,
  payoutId: null,
  rail: 'PSE',
  kind: 'unconfirmed',
  reference: 'r',
  executionId: null,
  amount: null,
  once: 'x',
} as const;
const EVENT = {
  event: 'payin.canceled',
  resource: 'payin',
  resourceId: ID,
  createdAt: new Date(),
  data: {},
  traceContext: null,
} as const;
const LOCKED = { organization_id: ID, id: ID, attempts: 1 } as LockedPayout;
const RESOLVED = { lookupId: ID, resolutionId: 'x', resolvedAt: new Date(), holder: HASH } as const;
const FULL_ANOMALY = {
  ...PAYIN,
  ...ANOMALY,
  noticedAt: new Date(),
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  note: null,
  returnPayoutId: null,
  acceptedAt: null,
  acceptedBy: null,
  reversals: 0,
} as const;
const SPAN = {
  from: new Date(),
  to: new Date(),
  firstId: ID,
  lastId: ID,
  amount: 1n,
  organizationId: null,
} as const;
const POSITION = { direction: 'older', id: ID } as const;

describe('the plan of each statement about payins and payouts, with empty tables', () => {
  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['reserve idempotency keys', (tx) => reserveIdempotencyKeys(tx, [RESERVATION])],
    ['release idempotency keys', (tx) => releaseIdempotencyKeys(tx, [RESERVATION])],
    ['purge idempotency keys', (tx) => purgeIdempotencyKeys(tx)],
    [
      'reserve references',
      (tx) => reserveReferences(tx, 'payin', [{ organizationId: ID, reference: 'r', resourceId: ID }]),
    ],
    [
      'release references',
      (tx) => releaseReferences(tx, 'payout', [{ organizationId: ID, reference: 'r', resourceId: ID }]),
    ],
    [
      'insert payins',
      (tx) =>
        insertPayins(tx, [
          {
            ...PAYIN,
            leaseToken: ID,
            amount: cents(1),
            reference: 'r',
            customer: null,
            metadata: null,
            traceContext: null,
            dataKey: SECRETS.dataKey,
            hashKey: SECRETS.hashKey,
            callbackUrl: null,
            source: { rail: 'BRE_B', keyType: 'SINGLE_USE', key: KEY },
            paymentLinkId: null,
            expiresAt: null,
            createdBy: SYSTEM,
          },
        ]),
    ],
    ['find payins', (tx) => findPayins(tx, [PAYIN])],
    ['find a payin', (tx) => findPayin(tx, ID, ID)],
    ['list payins', (tx) => listPayins(tx, ID, {}, null, 11)],
    ['list payins from a cursor', (tx) => listPayins(tx, ID, {}, POSITION, 11)],
    ['list payins of a link', (tx) => listPayins(tx, ID, { paymentLinkId: ID }, null, 11)],
    ['list by reference', (tx) => listPayins(tx, ID, { reference: 'r' }, null, 11)],
    ['lease due keys', (tx) => leaseDueKeys(tx, ID, 500, [])],
    [
      'record registrations',
      (tx) => recordRegistrations(tx, [{ key: KEY, leaseToken: ID, refusal: null, retryAfterMs: null }]),
    ],
    ['count waiting keys', (tx) => readKeyBacklog(tx)],
    ['release leases', (tx) => releaseLeases(tx, [{ ...PAYIN, leaseToken: ID, brebKey: KEY }])],
    ['lease due PSE payins', (tx) => leaseDuePsePayins(tx, ID, 32, [], false)],
    [
      'record bank pages',
      (tx) => recordPages(tx, [{ ...PAYIN, leaseToken: ID, kind: 'unknown', retryAfterMs: 1 }]),
    ],
    ['find the payins of keys', (tx) => findPayinsByBrebKeys(tx, [KEY])],
    ['lock payins', (tx) => lockPayins(tx, [PAYIN])],
    [
      'transition payins',
      (tx) =>
        transitionPayins(tx, [{ ...PAYIN, ...TRANSITION }], { settlementDelayMinutes: 0, lastPollMs: 1 }),
    ],
    ['lease polls', (tx) => leaseTasks(tx, ID, 'BRE_B', 'poll', 500)],
    ['reschedule payins', (tx) => reschedulePayins(tx, [{ ...PAYIN, next: null, verified: true }], ANSWER)],
    ['postpone polls', (tx) => postponeTasks(tx, [{ ...PAYIN, afterMs: 1 }], ID)],
    ['insert notices', (tx) => insertNotices(tx, [{ ...PAYIN, ...NOTICE }])],
    ['take notices', (tx) => lockDueNotices(tx, 'payin', 500)],
    ['take one notice', (tx) => lockDueNotice(tx, ID, ID)],
    ['lease unverified notices', (tx) => leaseUnverifiedNotices(tx, ID, 'payin', 'PSE', 500)],
    ['conclude notices', (tx) => concludeNotices(tx, [{ ...PAYIN, outcome: 'duplicate', next: null }], null)],
    ['insert anomalies', (tx) => insertAnomalies(tx, [{ ...PAYIN, ...ANOMALY }])],
    ['anomalies of a payin', (tx) => anomaliesOfPayin(tx, ID, ID)],
    ['open anomalies', (tx) => openAnomalies(tx, 100)],
    ['record events', (tx) => recordFinalEvents(tx, [{ ...PAYIN, ...EVENT }], () => SECRETS.dataKey)],
    [
      'post transfers',
      (tx) =>
        post(tx, [
          {
            id: ID,
            organizationId: ID,
            debit: 'clearing_pse',
            credit: 'pending',
            amount: cents(1),
            cause: { kind: 'payment', id: 'x' },
            resourceId: ID,
            createdBy: SYSTEM,
          },
        ]),
    ],
    ['posted causes', (tx) => postedCauses(tx, 'payment', ['x'])],
    ['find a deposit', (tx) => postingByCause(tx, { kind: 'deposit', id: 'x' })],
    ['find a posting', (tx) => postingById(tx, ID, ID)],
    ['reopen an anomaly', (tx) => reopenReversed(tx, PAYIN)],
    ['read balances', (tx) => readBalances(tx, ID)],
    ['lock a balance', (tx) => lockBalance(tx, ID, 'available')],
    ['list ledger entries', (tx) => listEntries(tx, ID, {}, null, 11)],
    ['list ledger entries from a cursor', (tx) => listEntries(tx, ID, { account: 'held' }, POSITION, 11)],
    ['close a span', (tx) => closeSpan(tx)],
    ['sum a shared account', (tx) => sharedBalance(tx, 'suspense')],
    ['lock settling payins', (tx) => lockSettlingPayins(tx, 1000)],
    ['query before settling', (tx) => queryBeforeSettling(tx, [PAYIN])],
    ['release a settlement', (tx) => releaseSettlement(tx, PAYIN)],
    ['reverse a settlement', (tx) => reverseSettlement(tx, PAYIN)],
    ['resolve anomalies of listed payments', (tx) => resolveListed(tx, [PAYIN])],
    ['count held settlements', (tx) => countHeldSettlements(tx)],
    ['settle payins', (tx) => settlePayins(tx, [{ ...PAYIN, settlementId: ID }])],
    [
      'insert payouts',
      (tx) =>
        insertPayouts(tx, [
          {
            ...PAYIN,
            amount: cents(1),
            reference: 'r',
            customer: null,
            metadata: null,
            traceContext: null,
            brebKey: '@TESTOK',
            secrets: SECRETS,
            resolved: RESOLVED,
            endToEndId: 'x',
            anomaly: null,
            createdBy: SYSTEM,
            refusal: null,
            holdSeconds: null,
          },
        ]),
    ],
    ['find payouts', (tx) => findPayouts(tx, [PAYIN])],
    ['charge misses', (tx) => chargeMisses(tx, [ID])],
    ['organizations without misses', (tx) => exhaustedMisses(tx, [ID])],
    ['receivers paid today', (tx) => receiverUsage(tx, [{ organizationId: ID, receiverIndex: HASH }])],
    ['receivers paid before', (tx) => paidBefore(tx, [{ organizationId: ID, receiverIndex: HASH }])],
    ['release usage of payout limits', (tx) => releaseUsage(tx, [PAYIN])],
    ['list payouts', (tx) => listPayouts(tx, ID, {}, null, 11)],
    ['list payouts from a cursor', (tx) => listPayouts(tx, ID, { status: 'PROCESSING' }, POSITION, 11)],
    ['list payouts by reference', (tx) => listPayouts(tx, ID, { reference: 'r' }, null, 11)],
    ['list payouts by receiver', (tx) => listPayouts(tx, ID, { receiver: HASH }, null, 11)],
    ['list payouts by receiver from a cursor', (tx) => listPayouts(tx, ID, { receiver: HASH }, POSITION, 11)],
    ['payins across organizations by id', (tx) => payinsById(tx, ID)],
    ['payins across organizations by reference', (tx) => payinsByReference(tx, 'r', 50)],
    ['payins across organizations by CUS', (tx) => payinsByCus(tx, '4417230051', 50)],
    ['payins across organizations by day and amount', (tx) => payinsCreatedWithin(tx, SPAN, 50)],
    ['payins across organizations by execution', (tx) => resourcesOfCauses(tx, 'payment', ['x'])],
    ['details of payins', (tx) => payinDetails(tx, [PAYIN])],
    ['history of a payin', (tx) => payinHistory(tx, PAYIN)],
    ['registration of a key', (tx) => keyRegistration(tx, KEY)],
    ['payouts of an organization that wait', (tx) => countWaitingPayouts(tx, ID)],
    ['organizations that wait', (tx) => waitingOrganizations(tx, ID, [ID], 50)],
    ['commit attempts', (tx) => commitAttempts(tx, ID, [ID], 100, 540_000)],
    [
      'record answers',
      (tx) =>
        recordAnswers(
          tx,
          [
            {
              ...PAYIN,
              attempt: 1,
              answer: 'unknown',
              errorCode: null,
              reason: 'x',
              isUnsent: false,
              nextAfterMs: 1,
            },
          ],
          ID,
        ),
    ],
    ['lease expired resolutions', (tx) => leaseExpiredResolutions(tx, ID, 16, [ID], 540_000)],
    ['refresh resolutions', (tx) => recordResolutionRefreshes(tx, [{ ...PAYIN, resolutionId: 'x' }], ID)],
    ['lock payouts', (tx) => lockPayouts(tx, [PAYIN])],
    ['rejections of the last attempts', (tx) => lastRejections(tx, [LOCKED])],
    [
      'transition payouts',
      (tx) =>
        transitionPayouts(
          tx,
          [
            {
              ...PAYIN,
              to: 'CONFIRMED',
              errorCode: null,
              executionId: 'x',
              cause: 'settled_on_notification',
            },
          ],
          1,
        ),
    ],
    ['adopt executions', (tx) => adoptExecutions(tx, [{ ...PAYIN, executionId: 'x' }])],
    ['cancel a payout', (tx) => cancelUnsent(tx, PAYIN)],
    ['lease polls about payouts', (tx) => leasePolls(tx, ID, 500)],
    ['reschedule payouts', (tx) => reschedulePayouts(tx, [{ ...PAYIN, next: null, railStatus: null }], ID)],
    ['count waiting payouts', (tx) => waitingPayouts(tx)],
    ['payouts of unknown outcome', (tx) => listUnknown(tx, 100)],
    ['owner of a payout', (tx) => findPayoutOwner(tx, ID)],
    ['attempts of a payout', (tx) => listAttempts(tx, PAYIN)],
    ['schedule a resend', (tx) => scheduleResend(tx, PAYIN)],
    ['executions accounted for', (tx) => accountedExecutions(tx, 'BRE_B', ['x'])],
    [
      'record executions',
      (tx) => recordExecutions(tx, [{ ...PAYIN, rail: 'BRE_B', executionId: 'x', payoutId: ID }]),
    ],
    [
      'insert a lookup',
      (tx) =>
        insertLookup(tx, {
          ...PAYIN,
          receiverIndex: HASH,
          resolutionId: 'x',
          holder: HASH,
          validForMs: 1,
          createdBy: SYSTEM,
        }),
    ],
    ['find lookups', (tx) => findLookups(tx, [{ organizationId: ID, receiverIndex: HASH, lookupId: null }])],
    ['purge lookups', (tx) => purgeLookups(tx)],
    ['take lookup tokens', (tx) => takeLookupTokens(tx, ID)],
    ['refund lookup tokens', (tx) => refundLookupTokens(tx, [{ organizationId: ID, lookups: 1, misses: 1 }])],
    ['refund used lookups', (tx) => refundUsedLookups(tx, [PAYIN])],
    ['anomalies of a payout', (tx) => anomaliesOfPayout(tx, ID, ID)],
    ['lock an anomaly', (tx) => lockAnomaly(tx, ID)],
    [
      'resolve an anomaly',
      (tx) => resolveAnomaly(tx, FULL_ANOMALY, { by: 'x', how: 'return', note: null }, ID),
    ],
    ['accept an anomaly', (tx) => acceptAnomaly(tx, { organizationId: ID, payinId: ID, id: ID }, SYSTEM)],
    [
      'lock an anomaly of a payin',
      (tx) => lockAnomalyOfPayin(tx, { organizationId: ID, payinId: ID, id: ID }),
    ],
    ['resolve accepted anomalies', (tx) => resolveAccepted(tx, 100)],
    ['resolve an accepted anomaly', (tx) => resolveAcceptedOne(tx, PAYIN)],
    ['reopen returned anomalies', (tx) => reopenReturned(tx, [ID])],
    [
      'record an operator action',
      (tx) => recordAction(tx, { organizationId: ID, operator: 'x', action: 'ledger.deposit', resource: ID }),
    ],
    ['operator actions, newest first', (tx) => listActions(tx, ALL_ACTIONS, 100)],
    ['operator actions of one operator', (tx) => listActions(tx, { ...ALL_ACTIONS, operator: 'x' }, 100)],
    ['operator actions of one kind', (tx) => listActions(tx, { ...ALL_ACTIONS, action: 'x' }, 100)],
    [
      'operator actions of an organization',
      (tx) => listActions(tx, { ...ALL_ACTIONS, organizationId: ID }, 100),
    ],
    ['lock balances for holds', (tx) => lockAvailable(tx, [ID])],
    ['record the use of keys', (tx) => touchKeys(tx, new Map([['x', { mac: null, replace: false }]]), 'x')],
    ['the pulse', (tx) => readPulse(tx)],
    ['the high-water mark of IDs', (tx) => advanceIdClock(tx)],
  ])('has no sequential scan of a growing table: %s', async (_name, use) => {
    const plan = await plans.of(use);
    expect(sequentialScans(plan)).toEqual([]);
    expect(/list/.test(_name) ? [] : organizationScans(plan)).toEqual([]);
  });
});
