import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type QueryResultRow } from 'pg';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import type { Cluster } from './cluster.ts';
import { type Member, startMember } from './member.ts';

interface StackOrganization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A complete Caudal under test, with its own database, simulator, API and worker processes. */
export interface Stack {
  readonly databaseUrl: string;
  /** Runs as the superuser, so row-level security hides nothing. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  readonly simulatorUrl: string;
  readonly simulator: Member;
  /** Path of the simulator's journal. */
  readonly simulatorJournal: string;
  /** Path of the journal of worker deaths and database outages. */
  readonly incidents: string;
  readonly apis: readonly Member[];
  readonly workers: readonly Member[];
  /** Settings of its server processes. */
  readonly settings: Readonly<Record<string, string>>;
  readonly organization: StackOrganization;
  newOrganization(): Promise<StackOrganization>;
  /** Advances business time at the rails and in the database. A failed call can be repeated. */
  shiftTime(ms: number): Promise<void>;
  /** Runs an operator command. @throws with its output when it fails */
  command(...args: readonly string[]): Promise<string>;
  /** Runs an operator command with additional settings. */
  commandWith(settings: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string>;
  /** Stops all processes and deletes the data. */
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Folder with `src/main.ts` of a copy of the server; defaults to the server of this repository. */
  readonly serverRoot?: string;
  readonly apis?: number;
  readonly workers?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** URL of a load balancer in front of the API processes, to which the rails send their notices. */
  readonly gatewayUrl?: string;
  /** Receives every line that an API or a worker prints. */
  readonly onLine?: (line: string) => void;
}

export async function startStack(cluster: Cluster, options: StackOptions = {}): Promise<Stack> {
  const database = await cluster.clone();
  const databaseUrl = cluster.url(database);
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-'));
  const entry = options.serverRoot === undefined ? undefined : join(options.serverRoot, 'src', 'main.ts');
  const started: Member[] = [];
  const incidents = join(folder, 'incidents.jsonl');
  writeFileSync(incidents, '');
  const record = (line: object) => appendFileSync(incidents, `${JSON.stringify(line)}\n`);
  const unwatch = cluster.watchCrashes((outage) => record({ kind: 'database_down', ...outage }));
  const pool = new Pool({ connectionString: databaseUrl, max: 4 });
  // An idle connection dies with the database; the next query opens a new one.
  pool.on('error', () => undefined);
  const launch = async (
    identity: Pick<Member, 'name' | 'role' | 'url' | 'opsUrl'>,
    start: Parameters<typeof startMember>[1],
  ) => {
    const member = await startMember(identity, start, () => {
      if (identity.role === 'worker') record({ kind: 'died', at: new Date(), name: identity.name });
    });
    started.push(member);
    return member;
  };
  const stop = async () => {
    unwatch();
    await Promise.all(started.filter(({ role }) => role !== 'simulator').map((member) => member.stop()));
    await Promise.all(started.filter(({ role }) => role === 'simulator').map((member) => member.stop()));
    await pool.end();
    await cluster.drop(database);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const apiPorts = await ports(options.apis ?? 2);
    const opsPorts = await ports((options.apis ?? 2) + (options.workers ?? 2));
    const simulatorPort = await freePort();
    const simulatorUrl = toUrl(simulatorPort);
    const settings = {
      ...serverSettings({
        databaseUrl,
        simulatorUrl,
        baseUrl: options.gatewayUrl ?? toUrl(apiPorts[0] ?? 1),
      }),
      CAUDAL_LOG_LEVEL: 'warn',
      CAUDAL_WORKER_POLL_MS: '20',
      // The load sends each payer from its own address.
      CAUDAL_TRUSTED_PROXIES: '127.0.0.1',
      // No server listens there: receipts by e-mail are queued and retried.
      CAUDAL_SMTP_URL: 'smtp://127.0.0.1:1',
      CAUDAL_MAIL_FROM: 'recibos@caudal.example',
      ...options.settings,
    };
    const commandWith: Stack['commandWith'] = (more, ...args) =>
      runServerCommand(args, { ...settings, ...more }, entry);
    const newOrganization = async () =>
      JSON.parse(
        await commandWith(
          {},
          'org',
          'create',
          '--name',
          'Tienda Aurora',
          '--support',
          'ayuda@aurora.example',
          '--json',
        ),
      ) as StackOrganization;
    const noticeUrls = options.gatewayUrl === undefined ? apiPorts.map(toUrl) : [options.gatewayUrl];
    const [organization, simulator, apis, workers] = await Promise.all([
      newOrganization(),
      launch({ name: 'simulator', role: 'simulator', url: simulatorUrl, opsUrl: '' }, () =>
        startSimulator(folder, simulatorPort, noticeUrls),
      ),
      Promise.all(
        apiPorts.map((port, index) => {
          const opsPort = opsPorts[index] ?? 0;
          const own = { CAUDAL_PORT: String(port), CAUDAL_OPS_PORT: String(opsPort) };
          return launch(
            { name: `api ${index + 1}`, role: 'api', url: toUrl(port), opsUrl: toUrl(opsPort) },
            (more) => startServer('api', { ...settings, ...own, ...more }, options.onLine, entry),
          );
        }),
      ),
      Promise.all(
        opsPorts.slice(apiPorts.length).map((opsPort, index) => {
          const own = { CAUDAL_OPS_PORT: String(opsPort) };
          return launch(
            { name: `worker ${index + 1}`, role: 'worker', url: '', opsUrl: toUrl(opsPort) },
            (more) => startServer('worker', { ...settings, ...own, ...more }, options.onLine, entry),
          );
        }),
      ),
    ]);
    const query: Stack['query'] = async <Row extends QueryResultRow>(
      text: string,
      values: readonly unknown[] = [],
    ) => (await pool.query<Row>(text, [...values])).rows;
    return {
      databaseUrl,
      query,
      simulatorUrl,
      simulator,
      simulatorJournal: join(folder, 'journal.jsonl'),
      incidents,
      apis,
      workers,
      settings,
      organization,
      newOrganization,
      shiftTime: timeShifter(simulatorUrl, query),
      command: (...args) => commandWith({}, ...args),
      commandWith,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Shifts the rail first: a key that the server finds expired was payable until then by both clocks. */
function timeShifter(simulatorUrl: string, query: Stack['query']): Stack['shiftTime'] {
  let shiftedMs = 0;
  let earlier = Promise.resolve();
  return (ms) => {
    const shift = earlier.then(async () => {
      shiftedMs += ms;
      const response = await fetch(`${simulatorUrl}/control/time`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ shiftMs: shiftedMs }),
      });
      if (!response.ok) throw new Error(`failed to shift the simulator's time: ${response.status}`);
      // Sets a target instead of adding a step, so a shift whose response was lost can be repeated.
      await query('select caudal.shift_time(make_interval(secs => $1) - time_shift) from caudal.deployment', [
        shiftedMs / 1000,
      ]);
    });
    earlier = shift.catch(() => undefined);
    return shift;
  };
}

function ports(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

function toUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
