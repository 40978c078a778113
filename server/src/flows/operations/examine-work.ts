import { countHeldSettlements, countOpenAnomalies } from '../../anomalies/anomaly.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { lastSuccesses } from '../../jobs/schedule.store.ts';
import { SCHEDULES, type ScheduleName } from '../../jobs/schedule-catalogue.ts';
import { listOrganizations } from '../../organizations/organization.store.ts';
import { longestWaitingKeys } from '../../payins/breb-key.store.ts';
import { listUnknown, type UnknownPayout, waitingPayouts } from '../../payouts/payout-outcome.store.ts';
import { listUnreadable, waitingNotices } from '../../rail-notices/notice.store.ts';
import { oldestUndispatched } from '../../webhooks/delivery.store.ts';
import { queueBacklog, type TroubledEndpoint, troubledEndpoints } from '../../webhooks/queue.store.ts';

type Asked = Pick<SystemDeps, 'system'>;

/** Keys that the network does not know yet: they cannot be paid. */
export function examineKeys({ system }: Asked): Promise<{ count: number; oldestSeconds: number }> {
  return longestWaitingKeys(system);
}

export interface NoticeBacklog {
  /** Stored, and nobody has made anything of them. */
  readonly apply: { readonly count: number; readonly oldestSeconds: number };
  /** The rail is to be asked about them first. */
  readonly ask: { readonly count: number; readonly oldestSeconds: number };
  /** When those came that nobody understood, newest first; at most a hundred. */
  readonly unreadable: readonly Date[];
}

export async function examineNotices({ system }: Asked): Promise<NoticeBacklog> {
  const [rows, unreadable] = await Promise.all([
    waitingNotices(system),
    system.transaction('read', (tx) => listUnreadable(tx, 100)),
  ]);
  const of = (task: 'apply' | 'ask') => {
    const row = rows.find((each) => each.task === task);
    return { count: row?.count ?? 0, oldestSeconds: row?.oldest_seconds ?? 0 };
  };
  return { apply: of('apply'), ask: of('ask'), unreadable: unreadable.map(({ receivedAt }) => receivedAt) };
}

export interface PayoutBacklog {
  readonly unknown: number;
  readonly oldestUnknown: UnknownPayout | null;
  readonly waiting: number;
  readonly oldestWaitingSeconds: number;
}

export async function examinePayouts({ system }: Asked): Promise<PayoutBacklog> {
  const [counts, [oldest]] = await Promise.all([waitingPayouts(system), listUnknown(system, 1)]);
  return {
    unknown: counts.unknown,
    oldestUnknown: oldest ?? null,
    waiting: counts.sends,
    oldestWaitingSeconds: counts.oldest_send_seconds,
  };
}

export async function examineAnomalies({ system }: Asked): Promise<{
  readonly open: number;
  /** Of those: payins whose settlement is held. */
  readonly held: number;
}> {
  const [open, held] = await Promise.all([countOpenAnomalies(system), countHeldSettlements(system)]);
  return { open, held };
}

/** Endpoints that get nothing, with the names of their owners; the longest first. */
export async function examineEndpoints(
  { system }: Asked,
  limit: number,
): Promise<(TroubledEndpoint & { readonly organizationName: string })[]> {
  const troubled = await troubledEndpoints(system, limit);
  if (troubled.length === 0) return [];
  const organizations = await system.transaction('read', (tx) => listOrganizations(tx));
  const names = new Map(organizations.map(({ id, name }) => [id, name]));
  return troubled.map((each) => ({ ...each, organizationName: names.get(each.organizationId) ?? 'unknown' }));
}

export interface EventBacklog {
  readonly undispatchedSeconds: number;
  /** Endpoints that work, have something to be sent, and for how long the first has waited. */
  readonly queues: number;
  readonly oldestSeconds: number;
}

export async function examineEvents({ system }: Asked): Promise<EventBacklog> {
  const [undispatchedSeconds, { queues, oldest_seconds }] = await Promise.all([
    oldestUndispatched(system),
    queueBacklog(system),
  ]);
  return { undispatchedSeconds, queues, oldestSeconds: oldest_seconds };
}

/** In seconds of real time; null when it was not done within the last two days. */
export async function examineSchedules({
  system,
}: Asked): Promise<{ readonly name: ScheduleName; readonly lastSuccess: number | null }[]> {
  const successes = await lastSuccesses(system);
  return SCHEDULES.map(({ name }) => ({ name, lastSuccess: successes.get(name) ?? null }));
}
