import { LEADER_KEY_PATH } from './configuration.ts';

/** A member of the cluster, as Patroni's REST API reports it. */
export interface Member {
  readonly name: string;
  readonly role: 'leader' | 'sync_standby' | 'replica' | 'standby_leader';
  readonly state: string;
  readonly timeline?: number;
}

const RESPONDS_WITHIN_MS = 1500;

/** @returns the cluster as one node sees it, from its copy of etcd; empty when the node does not respond */
export async function readMembers(patroniUrl: string): Promise<readonly Member[]> {
  try {
    const response = await fetch(`${patroniUrl}/cluster`, {
      signal: AbortSignal.timeout(RESPONDS_WITHIN_MS),
    });
    return ((await response.json()) as { readonly members: readonly Member[] }).members;
  } catch {
    return [];
  }
}

/** @returns the leader that this member of etcd has stored, without asking the others; null when it does not respond */
export async function readLeaderKey(etcdUrl: string): Promise<string | null> {
  try {
    const response = await fetch(`${etcdUrl}${LEADER_KEY_PATH}`, {
      signal: AbortSignal.timeout(RESPONDS_WITHIN_MS),
    });
    const { node } = (await response.json()) as { readonly node?: { readonly value: string } };
    return node?.value ?? null;
  } catch {
    return null;
  }
}

export function findLeader(members: readonly Member[]): string | null {
  return members.find(({ role }) => role === 'leader')?.name ?? null;
}

/** @returns the timeline of the leader; 0 without one. Each promotion begins a new timeline. */
export function findTimeline(members: readonly Member[]): number {
  return members.find(({ role }) => role === 'leader')?.timeline ?? 0;
}

/** A node that was cut off sees an old state for some seconds, so all nodes must agree. */
export function isAgreed(views: readonly (readonly Member[])[]): boolean {
  return (
    views.every((members) => isHealthy(members, views.length)) && new Set(views.map(findLeader)).size === 1
  );
}

/** All members run on one timeline, one leads, and a synchronous standby is confirmed: another fault is survived. */
function isHealthy(members: readonly Member[], count: number): boolean {
  const roles = members.map(({ role }) => role);
  return (
    members.length === count &&
    members.every(({ state }) => state === 'running' || state === 'streaming') &&
    new Set(members.map(({ timeline }) => timeline)).size === 1 &&
    roles.filter((role) => role === 'leader').length === 1 &&
    roles.includes('sync_standby')
  );
}
