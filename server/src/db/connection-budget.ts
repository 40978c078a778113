/** The role of a process, which decides how many connections it takes; `operator` is a one-off command. */
export type ProcessRole = 'api' | 'worker' | 'all' | 'operator';

/** Most connections of each pool of a process. */
export interface ConnectionBudget {
  readonly read: number;
  readonly batch: number;
  readonly system: number;
  readonly heartbeat: number;
  readonly snapshot: number;
  readonly schedules: number;
  /** The one that signals of due work travel by. */
  readonly notifications: number;
}

interface Settings {
  readonly readConnections: number;
  readonly batchLanes: number;
  /** Null: as many as the role needs. */
  readonly systemConnections: number | null;
}

/** A heartbeat that hangs must not hold up the next one. */
const HEARTBEAT = 2;
/** The loops of a worker take turns; each holds a connection for the time of one short transaction. */
const SYSTEM = { api: 6, worker: 10 } as const;

/**
 * An API process has no schedules and no checks of the whole ledger. A worker serves no reads, and of merchants'
 * writes only the recording of PSE pages.
 */
export function connectionBudget(role: ProcessRole, settings: Settings): ConnectionBudget {
  const serves = role !== 'worker';
  const works = role !== 'api';
  return {
    read: serves ? settings.readConnections : 1,
    // Lanes for payins and for payouts, one for recording, and a few for cancellations and lookups.
    batch: serves ? 2 * settings.batchLanes + 4 : 2,
    system: settings.systemConnections ?? (works ? SYSTEM.worker : SYSTEM.api),
    heartbeat: HEARTBEAT,
    snapshot: works ? 1 : 0,
    schedules: works ? 2 : 0,
    notifications: 1,
  };
}

export function totalConnections(budget: ConnectionBudget): number {
  return Object.values(budget).reduce((sum: number, each: number) => sum + each, 0);
}
