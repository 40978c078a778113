import { DATABASE_CONSEQUENCES, type InjectedFault, SENDING_CONSEQUENCES, setDatabase } from './fault.ts';
import { checkBackup } from './world.ts';

export const DATABASE_FAULTS: readonly InjectedFault[] = [
  {
    name: 'PostgreSQL is frozen',
    fires: ['CaudalDatabaseSilent'],
    mayFire: ['CaudalRoleDown', 'CaudalRailCircuitOpen', ...DATABASE_CONSEQUENCES],
    inject: async ({ cluster }) => {
      cluster.signal('SIGSTOP');
      return async () => cluster.signal('SIGCONT');
    },
  },
  {
    name: 'PostgreSQL accepts no writes',
    fires: ['CaudalNotReady'],
    mayFire: DATABASE_CONSEQUENCES,
    inject: async (world) => {
      await setDatabase(world, 'default_transaction_read_only', 'on');
      return () => setDatabase(world, 'default_transaction_read_only', null);
    },
  },
  {
    name: 'the synchronous standby is missing',
    fires: ['CaudalCommitsPending'],
    mayFire: DATABASE_CONSEQUENCES,
    inject: async (world) => {
      await setDatabase(world, 'synchronous_standby_names', "'missing'");
      return () => setDatabase(world, 'synchronous_standby_names', null);
    },
  },
  {
    name: 'the partitions of next month are missing',
    fires: ['CaudalPartitionsMissing'],
    mayFire: ['CaudalScheduleFailing'],
    inject: async ({ stack }) => {
      const [month] = await stack.query<{ child: string }>(
        `select name || '_' || to_char(date_trunc('month', caudal.now(), 'UTC') + interval '1 month', 'YYYYMM') as child
         from caudal.monthly_tables order by name limit 1`,
      );
      if (!month) throw new Error('found no monthly table');
      await stack.query(`alter table caudal.${month.child} rename to partition_away`);
      return async () =>
        void (await stack.query(`alter table caudal.partition_away rename to ${month.child}`));
    },
  },
  {
    name: 'archiving of WAL fails',
    fires: ['CaudalArchivingFailing'],
    inject: async (world) => {
      await setDatabase(world, 'archive_command', "'false'");
      await world.stack.query('select pg_switch_wal()');
      return async () => {
        await setDatabase(world, 'archive_command', "'true'");
        await world.stack.query('select pg_switch_wal()');
      };
    },
  },
  {
    name: 'the standby disconnects',
    fires: ['CaudalStandbyLost'],
    inject: async ({ standby }) => {
      await standby.disconnect();
      return () => standby.connect();
    },
  },
  {
    name: 'the last backup is two days old',
    fires: ['CaudalBackupTooOld'],
    inject: async (world) => {
      await checkBackup(world, 48);
      return () => checkBackup(world, 1);
    },
  },
  {
    name: 'the database was restored',
    fires: ['CaudalSendingPausedAfterRestore'],
    mayFire: SENDING_CONSEQUENCES,
    inject: async ({ stack }) => {
      const since = new Date().toISOString();
      await stack.command('rails', 'pause-after-restore');
      return async () => void (await stack.command('rails', 'reconcile-after-restore', '--since', since));
    },
  },
];
