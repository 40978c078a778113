import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type QueryResultRow } from 'pg';
import { runServerCommand, startServer, startSimulator } from '../../scripts/stack/processes.ts';
import { serverSettings } from '../../scripts/stack/settings.ts';
import { type Cluster, steadyPort } from './cluster.ts';
import { type Member, startMember } from './member.ts';

interface StageOrganization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A whole Caudal to be mistreated: its own database, simulator, API and worker processes. */
export interface Stage {
  readonly databaseUrl: string;
  /** As the superuser, who sees everything. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  readonly simulatorUrl: string;
  readonly simulator: Member;
  /** Path of the simulator's journal. */
  readonly simulatorJournal: string;
  /** Path of a journal of workers that died and of times in which the database was away. */
  readonly incidents: string;
  readonly apis: readonly Member[];
  readonly workers: readonly Member[];
  readonly organization: StageOrganization;
  newOrganization(): Promise<StageOrganization>;
  /** Business time goes on by this much, at the rails and in the database; repeated as a whole when it failed. */
  shiftTime(ms: number): Promise<void>;
  /** An operator's command; throws with its output when it fails. */
  command(...args: readonly string[]): Promise<string>;
  /** The same with these settings beside the usual ones. */
  commandWith(settings: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string>;
  /** Ends everything and forgets its data. */
  stop(): Promise<void>;
}

export interface StageOptions {
  /** Folder that holds `src/main.ts` of a copy of the server; the server of this tree without it. */
  readonly serverRoot?: string;
  readonly apis?: number;
  readonly workers?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Gets every line that an API or a worker prints. */
  readonly onLine?: (line: string) => void;
}

export async function startStage(cluster: Cluster, options: StageOptions = {}): Promise<Stage> {
  const database = await cluster.clone();
  const databaseUrl = cluster.url(database);
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-'));
  const entry = options.serverRoot === undefined ? undefined : join(options.serverRoot, 'src', 'main.ts');
  const started: Member[] = [];
  const incidents = join(folder, 'incidents.jsonl');
  writeFileSync(incidents, '');
  const note = (line: object) => appendFileSync(incidents, `${JSON.stringify(line)}\n`);
  const unwatch = cluster.watchCrashes((away) => note({ kind: 'database away', ...away }));
  const pool = new Pool({ connectionString: databaseUrl, max: 4 });
  // An idle connection dies with the database; the next query takes a fresh one.
  pool.on('error', () => undefined);
  const begin = async (
    of: Pick<Member, 'name' | 'role' | 'url'>,
    start: Parameters<typeof startMember>[1],
  ) => {
    const member = await startMember(of, start, () => {
      if (of.role === 'worker') note({ kind: 'died', at: new Date(), name: of.name });
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
    const simulatorPort = await steadyPort();
    const simulatorUrl = urlOf(simulatorPort);
    const settings = {
      ...serverSettings({ databaseUrl, simulatorUrl, baseUrl: urlOf(apiPorts[0] ?? 1) }),
      CAUDAL_LOG_LEVEL: 'warn',
      CAUDAL_WORKER_POLL_MS: '20',
      // Each payer comes from an address of their own.
      CAUDAL_TRUSTED_PROXIES: '127.0.0.1',
      // Most of what this costs is starting processes, and this halves it.
      NODE_COMPILE_CACHE: join(tmpdir(), 'caudal-compile-cache'),
      ...options.settings,
    };
    const commandWith: Stage['commandWith'] = (more, ...args) =>
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
      ) as StageOrganization;
    const noticeUrls = apiPorts.map(urlOf);
    const [organization, simulator, apis, workers] = await Promise.all([
      newOrganization(),
      begin({ name: 'simulator', role: 'simulator', url: simulatorUrl }, () =>
        startSimulator(folder, simulatorPort, noticeUrls),
      ),
      Promise.all(
        apiPorts.map((port, index) =>
          begin({ name: `api ${index + 1}`, role: 'api', url: urlOf(port) }, (more) =>
            startServer('api', { ...settings, CAUDAL_PORT: String(port), ...more }, options.onLine, entry),
          ),
        ),
      ),
      Promise.all(
        Array.from({ length: options.workers ?? 2 }, (_, index) =>
          begin({ name: `worker ${index + 1}`, role: 'worker', url: '' }, (more) =>
            startServer('worker', { ...settings, ...more }, options.onLine, entry),
          ),
        ),
      ),
    ]);
    const query: Stage['query'] = async <Row extends QueryResultRow>(
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

/** The rail first: a key that the server finds expired was payable until then by every clock. */
function timeShifter(simulatorUrl: string, query: Stage['query']): Stage['shiftTime'] {
  let shiftedMs = 0;
  let earlier = Promise.resolve();
  return (ms) => {
    const turn = earlier.then(async () => {
      shiftedMs += ms;
      const response = await fetch(`${simulatorUrl}/control/time`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ shiftMs: shiftedMs }),
      });
      if (!response.ok) throw new Error(`the simulator's time: ${response.status}`);
      // To a target instead of by a step: a shift whose answer was lost may be repeated.
      await query('select caudal.shift_time(make_interval(secs => $1) - time_shift) from caudal.deployment', [
        shiftedMs / 1000,
      ]);
    });
    earlier = turn.catch(() => undefined);
    return turn;
  };
}

function ports(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, steadyPort));
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
