import { countHeldSettlements, countOpenAnomalies } from '../../anomalies/anomaly.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { lastSuccesses } from '../../jobs/schedule.store.ts';
import { SCHEDULES, type ScheduleName } from '../../jobs/schedule-catalogue.ts';
import { type LastVerification, readLedgerStatus } from '../../ledger/ledger-status.store.ts';
import { listOrganizations } from '../../organizations/organization.store.ts';
import { readExactKeyBacklog } from '../../payins/breb-key.store.ts';
import { listUnknown, type UnknownPayout, waitingPayouts } from '../../payouts/payout-outcome.store.ts';
import { listUnreadable, readNoticeBacklog } from '../../rail-notices/notice.store.ts';
import { oldestUndispatched } from '../../webhooks/delivery.store.ts';
import { listUnhealthyEndpoints, queueBacklog, type UnhealthyEndpoint } from '../../webhooks/queue.store.ts';

type ExamineDeps = Pick<SystemDeps, 'system'>;

/** Bre-B keys that are not registered at the network yet: payers cannot pay to them. */
export function examineKeys({ system }: ExamineDeps): Promise<{ count: number; oldestSeconds: number }> {
  return readExactKeyBacklog(system);
}

/** The last ledger verification; null before the first. */
export async function examineLedger({ system }: ExamineDeps): Promise<LastVerification | null> {
  return (await readLedgerStatus(system)).verification;
}

export interface NoticeBacklog {
  /** Stored and not yet applied. */
  readonly apply: { readonly count: number; readonly oldestSeconds: number };
  /** Waiting for verification at the rail. */
  readonly verify: { readonly count: number; readonly oldestSeconds: number };
  /** Arrival times of notices that could not be parsed, newest first; at most a hundred. */
  readonly unreadable: readonly Date[];
}

export async function examineNotices({ system }: ExamineDeps): Promise<NoticeBacklog> {
  const [rows, unreadable] = await Promise.all([
    readNoticeBacklog(system),
    system.transaction('read', (tx) => listUnreadable(tx, 100)),
  ]);
  const backlog = (task: 'apply' | 'verify') => {
    const row = rows.find((each) => each.task === task);
    return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
  };
  return {
    apply: backlog('apply'),
    verify: backlog('verify'),
    unreadable: unreadable.map(({ receivedAt }) => receivedAt),
  };
}

export interface PayoutBacklog {
  readonly unknown: number;
  readonly oldestUnknown: UnknownPayout | null;
  readonly waiting: number;
  readonly oldestWaitingSeconds: number;
}

export async function examinePayouts({ system }: ExamineDeps): Promise<PayoutBacklog> {
  const [counts, [oldest]] = await Promise.all([waitingPayouts(system), listUnknown(system, 1)]);
  return {
    unknown: counts.unknown,
    oldestUnknown: oldest ?? null,
    waiting: counts.sends,
    oldestWaitingSeconds: counts.oldest_send_seconds,
  };
}

export async function examineAnomalies({ system }: ExamineDeps): Promise<{
  readonly open: number;
  /** Anomalies among them that hold the settlement of a payin. */
  readonly held: number;
}> {
  const [open, held] = await Promise.all([countOpenAnomalies(system), countHeldSettlements(system)]);
  return { open, held };
}

/** Failing or disabled endpoints with the names of their organizations, longest failing first. */
export async function examineEndpoints(
  { system }: ExamineDeps,
  limit: number,
): Promise<(UnhealthyEndpoint & { readonly organizationName: string })[]> {
  const troubled = await listUnhealthyEndpoints(system, limit);
  if (troubled.length === 0) return [];
  const organizations = await system.transaction('read', (tx) => listOrganizations(tx));
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  return troubled.map((each) => ({ ...each, organizationName: names.get(each.organizationId) ?? 'unknown' }));
}

export interface EventBacklog {
  readonly undispatchedSeconds: number;
  /** Working endpoints with pending deliveries. */
  readonly queues: number;
  /** Age of the oldest pending delivery among them. */
  readonly oldestSeconds: number;
}

export async function examineEvents({ system }: ExamineDeps): Promise<EventBacklog> {
  const [undispatchedSeconds, { queues, oldest_seconds }] = await Promise.all([
    oldestUndispatched(system),
    queueBacklog(system),
  ]);
  return { undispatchedSeconds, queues, oldestSeconds: oldest_seconds };
}

/** `lastSuccess` in seconds of real time; null when there was none within the last two days. */
export async function examineSchedules({
  system,
}: ExamineDeps): Promise<{ readonly name: ScheduleName; readonly lastSuccess: number | null }[]> {
  const successes = await lastSuccesses(system);
  return SCHEDULES.map(({ name }) => ({ name, lastSuccess: successes.get(name) ?? null }));
}
