import { Client } from 'pg';
import type { World } from './world.ts';

type AlertName = `Caudal${string}`;

/** Something that goes wrong, and the alerts that say so. */
export interface InjectedFault {
  readonly name: string;
  /** All of these must fire. */
  readonly fires: readonly AlertName[];
  /** Consequences that may fire too. */
  readonly mayFire?: readonly AlertName[];
  /** @returns ends the fault */
  inject(world: World): Promise<() => Promise<void>>;
}

/** Alerts that follow when the database cannot be used. */
export const DATABASE_CONSEQUENCES: readonly AlertName[] = [
  'CaudalApiErrorBudgetBurnFast',
  'CaudalApiErrorBudgetBurnSlow',
  'CaudalApiLatencyHigh',
  'CaudalNotReady',
  'CaudalDatabaseSilent',
  'CaudalDatabasePoolExhausted',
  'CaudalProcessDown',
  'CaudalConfirmationRateLow',
  'CaudalPayoutsWaiting',
  'CaudalPayoutsUnknown',
  'CaudalBrebKeysWaiting',
  'CaudalRailNoticesWaiting',
  'CaudalWebhooksDelayed',
  'CaudalScheduleFailing',
  'CaudalCommitsPending',
];

/** Alerts that follow when nothing is sent: payins are rejected, payouts and webhooks wait. */
export const SENDING_CONSEQUENCES: readonly AlertName[] = [
  'CaudalApiErrorBudgetBurnFast',
  'CaudalApiErrorBudgetBurnSlow',
  'CaudalConfirmationRateLow',
  'CaudalPayoutsWaiting',
  'CaudalWebhooksDelayed',
];

/** Holds a lock until the returned function is called. */
export async function holdLock(
  { stack }: World,
  statement: string,
  values: readonly unknown[] = [],
): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: stack.databaseUrl });
  // Its transaction may be ended by a fault of the database.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(statement, [...values]);
  return () => client.end();
}

export async function setDatabase({ stack }: World, setting: string, value: string | null): Promise<void> {
  await stack.query(
    value === null ? `alter system reset ${setting}` : `alter system set ${setting} = ${value}`,
  );
  await stack.query('select pg_reload_conf()');
}
