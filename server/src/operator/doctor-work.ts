import type { SystemDeps } from '../deps.ts';
import {
  examineAnomalies,
  examineEndpoints,
  examineEvents,
  examineKeys,
  examineNotices,
  examinePayouts,
  examineSchedules,
} from '../flows/operations/examine-work.ts';
import { realTime } from '../kit/clock.ts';
import { byAge, counted, duration, type Finding, fail, ok, warn } from './finding.ts';

const WORKER = 'is a worker running, and what does it log? (caudal worker)';

function graded(status: 'ok' | 'warn' | 'fail', name: string, says: string, todo: string): Finding {
  return status === 'ok'
    ? ok(name, says)
    : status === 'warn'
      ? warn(name, says, todo)
      : fail(name, says, todo);
}

export async function waitingKeysFinding(deps: SystemDeps): Promise<Finding> {
  const { count, oldestSeconds } = await examineKeys(deps);
  if (count === 0) return ok('keys waiting', 'every key is registered at the network');
  return graded(
    byAge(oldestSeconds, 10, 60),
    'keys waiting',
    `${counted(count, 'key waits', 'keys wait')} to be registered at Bre-B, the oldest for ${duration(oldestSeconds)}: until then nobody can pay to ${count === 1 ? 'it' : 'them'}`,
    `look at "rail BRE_B" and "pauses" here; if both are well: ${WORKER}`,
  );
}

const RECENT_SECONDS = 7 * 86_400;

export async function noticesFinding(deps: SystemDeps): Promise<Finding> {
  const { apply, ask, unreadable } = await examineNotices(deps);
  const waiting = byAge(apply.oldestSeconds, 10, 60);
  if (waiting !== 'ok')
    return graded(
      waiting,
      'notices',
      `${counted(apply.count, 'message')} of rails not dealt with, the oldest for ${duration(apply.oldestSeconds)}: payments that were made are not yet confirmed`,
      WORKER,
    );
  if (ask.oldestSeconds > 60)
    return warn(
      'notices',
      `${counted(ask.count, 'message')} about which the rail is still to be asked, the oldest for ${duration(ask.oldestSeconds)}`,
      'look at the rails here; it goes on by itself once they answer',
    );
  const recent = unreadable.filter(
    (at) => realTime().getTime() - at.getTime() < RECENT_SECONDS * 1000,
  ).length;
  if (recent > 0)
    return warn('notices', `${recent} of the last week could not be understood`, 'caudal notices unreadable');
  return ok('notices', 'all that the rails told has been dealt with');
}

export async function payoutsFinding(deps: SystemDeps, paused: boolean): Promise<Finding> {
  const { unknown, oldestUnknown, waiting, oldestWaitingSeconds } = await examinePayouts(deps);
  if (unknown > 0 && oldestUnknown) {
    return warn(
      'payouts',
      `${counted(unknown, 'payout')} sent over a minute ago without an outcome, the oldest ${oldestUnknown.id}, sent ${oldestUnknown.first_sent_at.toISOString()}: the rail is asked again and again, nothing is sent twice`,
      'caudal payouts unknown',
    );
  }
  if (waiting > 0 && oldestWaitingSeconds > 60) {
    const says = `${counted(waiting, 'payout waits', 'payouts wait')} to be sent, the first due for ${duration(oldestWaitingSeconds)}`;
    return paused
      ? warn('payouts', `${says}: the rail is paused`, 'caudal rails list')
      : graded(byAge(oldestWaitingSeconds, 60, 600), 'payouts', says, `look at "rail BRE_B" here; ${WORKER}`);
  }
  return ok(
    'payouts',
    waiting === 0 ? 'none is unknown, none waits' : `none is unknown, ${waiting} about to be sent`,
  );
}

export async function anomaliesFinding(deps: SystemDeps): Promise<Finding> {
  const { open, held } = await examineAnomalies(deps);
  if (held > 0)
    return fail(
      'anomalies',
      `the settlement of ${counted(held, 'payin')} is held: a notification reported the payment, and the rail does not list it (${counted(open, 'anomaly waits', 'anomalies wait')} for a decision in all)`,
      'caudal anomalies list, then anomalies resolve --release or --reverse (docs/operating/payins.md)',
    );
  return open === 0
    ? ok('anomalies', 'none is open')
    : warn(
        'anomalies',
        `${counted(open, 'anomaly waits', 'anomalies wait')} for a decision; their money is held in suspense`,
        'caudal anomalies list',
      );
}

const MOST_ENDPOINTS = 5;

export async function endpointsFinding(deps: SystemDeps): Promise<Finding> {
  const troubled = await examineEndpoints(deps, MOST_ENDPOINTS + 1);
  if (troubled.length === 0) return ok('endpoints', 'no webhook endpoint fails');
  const says = troubled.slice(0, MOST_ENDPOINTS).map((endpoint) => {
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
  const more = troubled.length > MOST_ENDPOINTS ? ['and more'] : [];
  return warn(
    'endpoints',
    [...says, ...more].join('\n'),
    'tell the merchant: their endpoint must answer 2xx. Nothing is lost: it is sent again for days, and held while disabled (PATCH /webhook-endpoints/{id} enables it)',
  );
}

export async function eventsFinding(deps: SystemDeps): Promise<Finding> {
  const { undispatchedSeconds, queues, oldestSeconds } = await examineEvents(deps);
  const age = Math.max(undispatchedSeconds, oldestSeconds);
  const status = byAge(age, 10, 60);
  if (status === 'ok') return ok('events', 'none is waiting to be sent');
  return graded(
    status,
    'events',
    `events for ${counted(queues, 'endpoint')} that work${undispatchedSeconds > 10 ? ' (and some not yet handed out)' : ''} have been waiting for ${duration(age)}`,
    WORKER,
  );
}

/** How long after its last success a schedule is late: at least two of its turns. */
const LATE_SECONDS = {
  settlement: 300,
  subtotals: 7500,
  housekeeping: 1800,
  'bank-list': 93_600,
  'ledger-verify': 93_600,
} as const;

/** @param sinceSeconds when the database was made: before that nothing can have been done */
export async function schedulesFinding(deps: SystemDeps, sinceSeconds: number): Promise<Finding> {
  const now = realTime().getTime() / 1000;
  const late = (await examineSchedules(deps)).flatMap(({ name, lastSuccess }) => {
    const age = now - (lastSuccess ?? sinceSeconds);
    return age > LATE_SECONDS[name] ? [{ name, age, ever: lastSuccess !== null }] : [];
  });
  if (late.length === 0) return ok('schedules', 'all are done as the clock asks');
  const says = late.map(({ name, age, ever }) =>
    ever
      ? `${name} last done ${duration(age)} ago`
      : `${name} not done within two days or since the database was made`,
  );
  const [first] = late;
  // What runs every minute and does not: then nobody runs anything.
  return late.some(({ name }) => name === 'settlement')
    ? fail('schedules', `${says.join('\n')}: no worker seems to be alive`, 'start one: caudal worker')
    : warn('schedules', says.join('\n'), `caudal schedules run ${first?.name} --by NAME`);
}
