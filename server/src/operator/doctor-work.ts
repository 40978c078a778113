import type { SystemDeps } from '../deps.ts';
import {
  examineAnomalies,
  examineEndpoints,
  examineEvents,
  examineKeys,
  examineLedger,
  examineNotices,
  examinePayouts,
  examineSchedules,
} from '../flows/operations/examine-work.system.ts';
import { realTime } from '../kit/clock.ts';
import { byAge, counted, duration, type Finding, fail, ok, warn } from './finding.ts';

const CHECK_WORKER = 'check that a worker is running (caudal worker), and its log';

function graded(status: 'ok' | 'warn' | 'fail', name: string, message: string, todo: string): Finding {
  return status === 'ok'
    ? ok(name, message)
    : status === 'warn'
      ? warn(name, message, todo)
      : fail(name, message, todo);
}

export async function waitingKeysFinding(deps: SystemDeps): Promise<Finding> {
  const { count, oldestSeconds } = await examineKeys(deps);
  if (count === 0) return ok('keys waiting', 'all Bre-B keys are registered');
  return graded(
    byAge(oldestSeconds, 10, 60),
    'keys waiting',
    `${counted(count, 'Bre-B key waits', 'Bre-B keys wait')} for registration, the oldest for ${duration(oldestSeconds)}: payers cannot pay to ${count === 1 ? 'it' : 'them'} yet`,
    `see the findings "rail BRE_B" and "pauses"; if both are ok: ${CHECK_WORKER}`,
  );
}

const RECENT_SECONDS = 7 * 86_400;

export async function noticesFinding(deps: SystemDeps): Promise<Finding> {
  const { apply, verify, unreadable } = await examineNotices(deps);
  const waiting = byAge(apply.oldestSeconds, 10, 60);
  if (waiting !== 'ok')
    return graded(
      waiting,
      'notices',
      `${counted(apply.count, 'unprocessed rail notice')}, the oldest for ${duration(apply.oldestSeconds)}: payments that were made are not confirmed yet`,
      CHECK_WORKER,
    );
  if (verify.oldestSeconds > 60)
    return warn(
      'notices',
      `${counted(verify.count, 'rail notice waits', 'rail notices wait')} for verification at the rail, the oldest for ${duration(verify.oldestSeconds)}`,
      'see the rail findings; verification continues once the rails answer',
    );
  const recent = unreadable.filter(
    (at) => realTime().getTime() - at.getTime() < RECENT_SECONDS * 1000,
  ).length;
  if (recent > 0)
    return warn(
      'notices',
      `${counted(recent, 'rail notice')} of the last week could not be parsed`,
      'caudal notices unreadable',
    );
  return ok('notices', 'all rail notices are processed');
}

export async function payoutsFinding(deps: SystemDeps, paused: boolean): Promise<Finding> {
  const { unknown, oldestUnknown, waiting, oldestWaitingSeconds } = await examinePayouts(deps);
  if (unknown > 0 && oldestUnknown) {
    return warn(
      'payouts',
      `${counted(unknown, 'payout')} sent over a minute ago without an outcome, the oldest ${oldestUnknown.id}, sent ${oldestUnknown.first_sent_at.toISOString()}: workers keep polling the rail, and no order is executed twice`,
      'caudal payouts unknown',
    );
  }
  if (waiting > 0 && oldestWaitingSeconds > 60) {
    const message = `${counted(waiting, 'payout waits', 'payouts wait')} to be sent, the oldest due for ${duration(oldestWaitingSeconds)}`;
    return paused
      ? warn('payouts', `${message}: the rail is paused`, 'caudal rails list')
      : graded(
          byAge(oldestWaitingSeconds, 60, 600),
          'payouts',
          message,
          `see the finding "rail BRE_B"; ${CHECK_WORKER}`,
        );
  }
  return ok(
    'payouts',
    waiting === 0
      ? 'no unknown outcomes, none waiting'
      : `no unknown outcomes, ${waiting} waiting to be sent`,
  );
}

export async function anomaliesFinding(deps: SystemDeps): Promise<Finding> {
  const { open, held } = await examineAnomalies(deps);
  if (held > 0)
    return fail(
      'anomalies',
      `the settlement of ${counted(held, 'payin')} is held: a notification reported the payment, but the rail does not list it (${counted(open, 'open anomaly', 'open anomalies')} in total)`,
      'caudal anomalies list, then anomalies resolve --release or --reverse (docs/operating/payins.md)',
    );
  return open === 0
    ? ok('anomalies', 'no open anomalies')
    : warn(
        'anomalies',
        `${counted(open, 'anomaly waits', 'anomalies wait')} for a decision; the money is held in suspense`,
        'caudal anomalies list',
      );
}

const VERIFIED_WITHIN_SECONDS = 2 * 86_400;

/** @param sinceSeconds when the database was created: it cannot have been verified before */
export async function ledgerFinding(deps: SystemDeps, sinceSeconds: number): Promise<Finding> {
  const last = await examineLedger(deps);
  const by = last?.by === 'command' ? 'by command' : 'by schedule';
  if (last && last.inconsistencies > 0)
    return fail(
      'ledger',
      `the verification of ${last.at.toISOString()} (${by}) found ${last.complete ? '' : 'more than '}${counted(last.inconsistencies, 'inconsistent row')}`,
      'caudal ledger verify lists them: change no row by hand, and pause payouts with caudal rails pause if balances are too high',
    );
  const age = realTime().getTime() / 1000 - (last ? last.at.getTime() / 1000 : sinceSeconds);
  if (age > VERIFIED_WITHIN_SECONDS)
    return warn(
      'ledger',
      last ? `last verified ${duration(age)} ago` : 'never verified',
      `caudal ledger verify, and ${CHECK_WORKER}: the schedule ledger-verify runs every night`,
    );
  return ok('ledger', last ? `consistent as of ${last.at.toISOString()} (${by})` : 'not verified yet');
}

const MAX_ENDPOINTS = 5;

export async function endpointsFinding(deps: SystemDeps): Promise<Finding> {
  const troubled = await examineEndpoints(deps, MAX_ENDPOINTS + 1);
  if (troubled.length === 0) return ok('endpoints', 'no webhook endpoint is failing');
  const message = troubled.slice(0, MAX_ENDPOINTS).map((endpoint) => {
    const last =
      endpoint.lastError ?? (endpoint.lastStatusCode === null ? null : `answered ${endpoint.lastStatusCode}`);
    const why = [
      endpoint.status === 'DISABLED'
        ? `disabled: ${endpoint.disabledReason}`
        : `failing since ${endpoint.failingSince?.toISOString() ?? 'just now'}, ${counted(endpoint.failures, 'attempt')} in a row`,
      ...(last === null ? [] : [`last: ${last}`]),
    ].join(', ');
    return `${endpoint.organizationName} (${endpoint.organizationId}), endpoint ${endpoint.endpointId}: ${why}`;
  });
  const more = troubled.length > MAX_ENDPOINTS ? ['and more'] : [];
  return warn(
    'endpoints',
    [...message, ...more].join('\n'),
    'inform the merchant: the endpoint must answer 2xx. No event is lost: deliveries are retried for days, and held while the endpoint is disabled (PATCH /webhook-endpoints/{id} enables it)',
  );
}

export async function eventsFinding(deps: SystemDeps): Promise<Finding> {
  const { undispatchedSeconds, queues, oldestSeconds } = await examineEvents(deps);
  const age = Math.max(undispatchedSeconds, oldestSeconds);
  const status = byAge(age, 10, 60);
  if (status === 'ok') return ok('events', 'no events are waiting');
  return graded(
    status,
    'events',
    `events for ${counted(queues, 'working endpoint')}${undispatchedSeconds > 10 ? ' (and undispatched events)' : ''} have been waiting for ${duration(age)}`,
    CHECK_WORKER,
  );
}

/** Time after its last success when a schedule is late: at least two intervals. */
const LATE_SECONDS = {
  settlement: 300,
  subtotals: 7500,
  housekeeping: 1800,
  'data-keys': 600,
  'bank-list': 93_600,
  'ledger-verify': 93_600,
  'personal-data': 93_600,
} as const;

/** @param sinceSeconds when the database was created: schedules cannot have run before */
export async function schedulesFinding(deps: SystemDeps, sinceSeconds: number): Promise<Finding> {
  const now = realTime().getTime() / 1000;
  const late = (await examineSchedules(deps)).flatMap(({ name, lastSuccess }) => {
    const age = now - (lastSuccess ?? sinceSeconds);
    return age > LATE_SECONDS[name] ? [{ name, age, ever: lastSuccess !== null }] : [];
  });
  if (late.length === 0) return ok('schedules', 'all schedules ran on time');
  const message = late.map(({ name, age, ever }) =>
    ever
      ? `${name} last succeeded ${duration(age)} ago`
      : `${name} has not succeeded within two days or since the database was created`,
  );
  const [first] = late;
  // Settlement runs every minute: when it is late, no worker runs at all.
  return late.some(({ name }) => name === 'settlement')
    ? fail(
        'schedules',
        `${message.join('\n')}: no worker seems to be running`,
        'start a worker: caudal worker',
      )
    : warn('schedules', message.join('\n'), `caudal schedules run ${first?.name} --by NAME`);
}
