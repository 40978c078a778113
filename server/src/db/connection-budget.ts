/** The role of a process determines its connection limits; `operator` is a one-off command. */
export type ProcessRole = 'api' | 'worker' | 'all' | 'operator';

/** Maximum connections of each pool of a process. */
export type ConnectionBudget = Readonly<ReturnType<typeof connectionBudget>>;

interface Settings {
  readonly readConnections: number;
  readonly batchLanes: number;
  /** Null: the default of the role. */
  readonly systemConnections: number | null;
}

/** A hanging heartbeat must not block the next one. */
const HEARTBEAT = 2;
/** Worker loops share these connections; each loop holds one for the duration of a short transaction. */
const SYSTEM = { api: 6, worker: 10 } as const;

/**
 * An API process runs no schedules and no full ledger checks. A worker serves no reads; its only tenant writes record
 * PSE pages.
 */
export function connectionBudget(role: ProcessRole, settings: Settings) {
  const serves = role !== 'worker';
  const works = role !== 'api';
  return {
    read: serves ? settings.readConnections : 1,
    // Lanes for payins and payouts, one for recording PSE pages, and a few for cancellations and key lookups.
    batch: serves ? 2 * settings.batchLanes + 4 : 2,
    system: settings.systemConnections ?? (works ? SYSTEM.worker : SYSTEM.api),
    heartbeat: HEARTBEAT,
    snapshot: works ? 1 : 0,
    schedules: works ? 2 : 0,
    /** Carries LISTEN/NOTIFY work signals. */
    notifications: 1,
  };
}

export function totalConnections(budget: ConnectionBudget): number {
  return Object.values(budget).reduce((sum: number, each: number) => sum + each, 0);
}
