import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { HttpConnection } from '../load/http-connection.ts';
import { payinRequest, requestMaker } from '../load/load-plan.ts';
import { atMost, type Metric } from '../metric.ts';
import { type Sink, startSink } from '../webhooks/start-sink.ts';
import { type Cluster, type GrownDatabase, type Served, serve } from './database.ts';
import { bytesPerRow, computeGrowth, type Sample, takeSample } from './watch.ts';

const TICK_MS = 100;
/** Long enough for the rail to know the key. */
const PAID_AFTER_MS = 3000;
/** One in this many payins is never paid: it is polled and expires after an hour. */
const UNPAID_OF = 20;
const SAMPLES = 36;
const TARGET = 1.15;

interface ChurnOptions {
  readonly minutes: number;
  /** Full payin lifecycles per second. */
  readonly perSecond: number;
}

/** Runs full payin lifecycles at a steady rate and checks that tables and processes do not grow. */
export async function benchChurn(
  cluster: Cluster,
  database: GrownDatabase,
  options: ChurnOptions,
): Promise<Metric[]> {
  const api = await serve(database);
  const worker = await startServer('worker', { ...database.settings, CAUDAL_OPS_PORT: '0' });
  const sink = await startSink(1);
  try {
    await control(cluster, '/control/notices/target', { urls: [`http://127.0.0.1:${api.port}`] });
    await addEndpoint(database, api, sink);
    const lives = new Lives(cluster, database, api, options.perSecond);
    const samples = await watch(database, api, worker, lives, options.minutes * 60);
    return [await verdict(database, samples, lives, options, (await sink.count()).distinct)];
  } finally {
    await Promise.all([api.stop(), worker.stop(), sink.stop()]);
  }
}

async function watch(
  database: GrownDatabase,
  api: Served,
  worker: Child,
  lives: Lives,
  seconds: number,
): Promise<Sample[]> {
  const pids = { API: api.pid, worker: worker.pid };
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const running = lives.run(seconds);
  while (samples.length < SAMPLES) {
    await sleep(startedAt + ((samples.length + 1) * seconds * 1000) / SAMPLES - performance.now());
    samples.push(await takeSample(database, startedAt, pids));
  }
  await running;
  return samples;
}

class Lives {
  readonly #cluster: Cluster;
  readonly #port: number;
  readonly #perTick: number;
  readonly #request: (index: number) => string;
  readonly #toPay: { readonly key: string; readonly atMs: number }[] = [];
  #requested = 0;
  created = 0;
  failures = 0;

  constructor(cluster: Cluster, database: GrownDatabase, api: Served, perSecond: number) {
    this.#cluster = cluster;
    this.#port = api.port;
    this.#perTick = (perSecond * TICK_MS) / 1000;
    this.#request = requestMaker(
      payinRequest(
        database.organizations.map(({ apiKey }) => apiKey),
        `churn-${process.pid}`,
      ),
    );
  }

  async run(seconds: number): Promise<void> {
    const connections = await Promise.all(
      Array.from({ length: Math.max(1, Math.ceil(this.#perTick)) }, () => HttpConnection.open(this.#port)),
    );
    const startedAt = performance.now();
    for (let tick = 0; tick * TICK_MS < seconds * 1000; tick += 1) {
      await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
      const wanted = Math.floor((tick + 1) * this.#perTick) - Math.floor(tick * this.#perTick);
      await Promise.all(connections.slice(0, wanted).map((connection) => this.#create(connection)));
      await this.#pay();
    }
    for (const connection of connections) connection.close();
  }

  async #create(connection: HttpConnection): Promise<void> {
    const { status, body } = await connection.send(this.#request(this.#requested++));
    const key = /"keyString":"(@[^"]+)"/.exec(body)?.[1];
    if (status !== 201 || key === undefined) {
      this.failures += 1;
      return;
    }
    this.created += 1;
    if (this.created % UNPAID_OF !== 0) this.#toPay.push({ key, atMs: performance.now() + PAID_AFTER_MS });
  }

  async #pay(): Promise<void> {
    const due = this.#toPay.findIndex(({ atMs }) => atMs > performance.now());
    const keys = this.#toPay.splice(0, due === -1 ? this.#toPay.length : due);
    if (keys.length > 0)
      await control(this.#cluster, '/control/keys/pay', { payments: keys.map(({ key }) => ({ key })) });
  }
}

async function control(cluster: Cluster, path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${cluster.simulatorUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} failed with status ${answer.status}: ${await answer.text()}`);
}

async function addEndpoint(database: GrownDatabase, api: Served, sink: Sink): Promise<void> {
  for (const { apiKey } of database.organizations) {
    const answer = await fetch(`http://127.0.0.1:${api.port}/webhook-endpoints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ url: `http://127.0.0.1:${sink.ports[0]}/hook` }),
    });
    if (!answer.ok) throw new Error(`POST /webhook-endpoints failed with status ${answer.status}`);
  }
}

async function verdict(
  database: GrownDatabase,
  samples: readonly Sample[],
  lives: Lives,
  { minutes, perSecond }: ChurnOptions,
  delivered: number,
): Promise<Metric> {
  const last = samples.at(-1);
  if (!last) throw new Error('no sample was taken');
  const figures: [name: string, growth: number | null][] = [
    ...last.tables.map(({ table }): [string, number | null] => [
      `bytes per row of ${table}`,
      computeGrowth(samples, (sample) => bytesPerRow(sample, table)),
    ]),
    ...Object.keys(last.memory).map((name): [string, number | null] => [
      `memory of the ${name}`,
      computeGrowth(samples, ({ memory }) => memory[name] ?? null),
    ]),
  ];
  const known = figures.flatMap(([name, growth]) => (growth === null ? [] : [{ name, growth }]));
  const worst = known.reduce((a, b) => (b.growth > a.growth ? b : a), { name: 'nothing', growth: 0 });
  const [ended] = await database.query<{ count: string }>(
    'select count(*) as count from caudal.final_events',
  );
  for (const line of tableLines(last)) console.log(line);
  return atMost(TARGET, {
    id: 'G2',
    description: `growth of the worst of ${known.length} values over ${minutes} min of ${perSecond} payin lifecycles per second, last third ÷ middle third`,
    value: worst.growth,
    details: `worst: ${worst.name}; ${known.map(({ name, growth }) => `${name} ${growth.toFixed(2)}`).join(', ')}; ${Object.entries(
      last.memory,
    )
      .map(([name, bytes]) => `${name} ${(bytes / 2 ** 20).toFixed(0)} MiB`)
      .join(
        ', ',
      )}; ${lives.created} created, ${ended?.count ?? '?'} ended, ${delivered} delivered, ${lives.failures} failed`,
  });
}

function tableLines({ tables }: Sample): string[] {
  return tables
    .filter(({ updates, live }) => updates + live > 100)
    .map(({ table, live, dead, updates, hot, vacuums, tableBytes, indexBytes }) => {
      const share =
        updates === 0 ? 'no updates' : `${((100 * hot) / updates).toFixed(0)} % of ${updates} updates HOT`;
      return `  ${table.padEnd(20)} ${live} live, ${dead} dead, ${share}, ${vacuums} autovacuums, ${(tableBytes / live).toFixed(0)} + ${(indexBytes / live).toFixed(0)} bytes per row`;
    });
}
