import { createHmac, randomUUID } from 'node:crypto';
import { type Cluster, startCluster } from '../../../chaos/src/stack/cluster.ts';
import { type RailControl, railControl } from '../../../chaos/src/stack/rail-control.ts';
import { type Stack, startStack } from '../../../chaos/src/stack/stack.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { Load } from './load.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { type Sink, startSink } from './sink.ts';
import { Standby } from './standby.ts';

/** A deployment under load, and the Prometheus that watches it. */
export interface World {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly rails: RailControl;
  readonly load: Load;
  readonly sink: Sink;
  readonly standby: Standby;
  readonly prometheus: Prometheus;
  /** Sends a rail notification with a valid signature. */
  readonly notify: (rail: 'breb' | 'pse', notice: object) => Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const cluster = await startCluster({ settings: { archive_mode: 'on', wal_sender_timeout: '0' } });
  // Not as a flag of the server: it could not be changed by `alter system` then.
  const stops: (() => Promise<unknown>)[] = [() => cluster.stop()];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const stack = await startStack(cluster, { settings: { CAUDAL_WORKER_POLL_MS: '200' } });
    stops.push(() => stack.stop());
    await stack.query("alter system set archive_command = 'true'");
    await stack.query('select pg_reload_conf()');
    await stack.command(
      'ledger',
      'deposit',
      '--org',
      stack.organization.organizationId,
      '--amount',
      '100000000',
      '--reference',
      'opening',
    );
    await stack.command('schedules', 'run', 'ledger-verify');
    await checkBackup({ stack }, 1);
    const standby = new Standby(stack.databaseUrl);
    await standby.connect();
    stops.push(() => standby.disconnect());
    const sink = await startSink();
    stops.push(() => sink.stop());
    const load = new Load(stack);
    await load.addEndpoint(`${sink.url}/ok`);
    load.start();
    stops.push(() => load.stop());
    const address = ({ opsUrl }: { readonly opsUrl: string }) => new URL(opsUrl).host;
    const prometheus = await startPrometheus({
      'caudal-api': stack.apis.map(address),
      'caudal-worker': stack.workers.map(address),
    });
    stops.push(() => prometheus.stop());
    const rails = railControl(stack.simulatorUrl);
    return { cluster, stack, rails, load, sink, standby, prometheus, notify: notifier(stack), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs `backup check` for a backup of this age. It fails when the backup is too old, and stores the age all the same. */
export async function checkBackup({ stack }: Pick<World, 'stack'>, hours: number): Promise<void> {
  const backupAt = new Date(Date.now() - hours * 3_600_000).toISOString();
  await stack.command('backup', 'check', '--backup-at', backupAt).catch(() => undefined);
}

function notifier(stack: Stack): World['notify'] {
  const settings = serverSettings({ databaseUrl: '', simulatorUrl: '', baseUrl: '' });
  const secrets = { breb: settings['BREB_NOTICE_SECRET'] ?? '', pse: settings['PSE_NOTICE_SECRET'] ?? '' };
  return async (rail, notice) => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = JSON.stringify({ notices: [{ noticeId: randomUUID(), ...notice }] });
    const signature = createHmac('sha256', secrets[rail]).update(`${timestamp}.${body}`).digest('hex');
    const response = await fetch(`${stack.apis[0]?.url}/rail-notices/${rail}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-notice-timestamp': timestamp,
        'x-notice-signature': `v1=${signature}`,
      },
      body,
    });
    if (response.status !== 200) throw new Error(`the notification got ${response.status}`);
  };
}
