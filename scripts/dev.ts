/**
 * npm run dev: a whole Caudal on one machine. PostgreSQL, migrations, simulator, server and an organization with a
 * key; data is kept in .data until `-- --fresh`.
 */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import type { Child } from './stack/child.ts';
import { buildDocs, docsAreStale } from './stack/docs-site.ts';
import { freePort, type PostgresCluster, startPostgres } from './stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from './stack/processes.ts';
import { seedOrganization } from './stack/seed.ts';
import { serverSettings } from './stack/settings.ts';

const DATABASE = 'caudal';
const PORTS = { api: 8080, ops: 9090, simulator: 4010, postgres: 54_329 };

const HELP = `npm run dev [-- OPTIONS]: a whole Caudal on this machine

  --fresh      forget everything kept from earlier runs
  --json       print one JSON line when all is up, nothing else
  --any-ports  take any free ports instead of the usual ones: for programs that start several at once
  --data DIR   keep data and logs there instead of in .data/dev
  --help       this text

Takes the ports ${Object.values(PORTS).join(', ')}, or free ones where these are taken.
`;

interface Running {
  readonly baseUrl: string;
  readonly opsUrl: string;
  readonly checkoutUrl: string;
  readonly simulatorUrl: string;
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly children: readonly Child[];
}

/** Where this run keeps its data; `caudal` looks for a stack in the usual place alone. */
const USUAL_DATA = fileURLToPath(new URL('../.data/dev', import.meta.url));
let dataDir = USUAL_DATA;

/** Not before we have written it: it may be that of another run, which holds the folder. */
let addressesKept = false;

/** Whether the usual ports are left to others. */
let anyPorts = false;

/** What has been started, in order; ended in the opposite one. */
const started: { name: string; stop: () => Promise<unknown>; kill: () => void }[] = [];

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      fresh: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      data: { type: 'string' },
      'any-ports': { type: 'boolean' },
    },
    strict: true,
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const say = (text: string) => (values.json ? undefined : console.error(text));
  const interrupted = new Promise<'interrupted'>((resolve) => {
    let times = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        times += 1;
        // Impatience is respected: the second one does not wait for anything under way.
        if (times > 1) for (const { kill } of started) kill();
        resolve('interrupted');
      });
    }
    whenOrphaned(() => resolve('interrupted'));
  });
  if (values.data !== undefined) dataDir = resolve(values.data);
  anyPorts = values['any-ports'] === true;
  if (values.fresh) rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  try {
    const running = await Promise.race([start(say), interrupted]);
    if (running === 'interrupted') return 0;
    keepAddresses(running);
    if (values.json)
      console.log(
        JSON.stringify({
          ready: true,
          baseUrl: running.baseUrl,
          checkoutUrl: running.checkoutUrl,
          simulatorUrl: running.simulatorUrl,
          apiKey: running.apiKey,
        }),
      );
    else {
      console.log(welcome(running));
      offerDocs(say);
    }
    const crashed = running.children.map((child) =>
      child.exited.then((code) => ({ code, output: child.output() })),
    );
    const end = await Promise.race([interrupted, ...crashed]);
    if (end === 'interrupted') return 0;
    console.error(`A process ended by itself with ${end.code}. Its last words:\n${end.output.slice(-3000)}`);
    return 1;
  } finally {
    // First: whoever finds it takes the stack to be up.
    if (addressesKept) rmSync(addressesFile(), { force: true });
    say('\nStopping …');
    for (const { stop } of started.toReversed()) await stop();
  }
}

/**
 * npm passes SIGTERM to the shell between us, which dies of it and tells nobody. Only under npm: whoever starts this file
 * alone, in the background, may leave.
 */
function whenOrphaned(then: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && then(), 1000).unref();
}

/** The site is built beside the running stack: nobody has to wait for it to make a payment. */
function offerDocs(say: (text: string) => void): void {
  if (!docsAreStale()) return;
  say('Building the docs …');
  const build = buildDocs();
  started.push({ name: 'docs', stop: build.stop, kill: build.kill });
  void build.done.then((end) => {
    if (end === 'built') say('The docs are built.');
    if (end === 'failed') say('The docs could not be built: npm run docs says why.');
  });
}

async function start(say: (text: string) => void): Promise<Running> {
  say('Starting PostgreSQL …');
  const cluster = await begin(
    'postgres',
    startPostgres({ dataDir: join(dataDir, 'postgres'), port: await portNear(PORTS.postgres) }),
  );
  // The database is ours alone now, so what is written there is of a stack that was killed.
  rmSync(addressesFile(), { force: true });
  await ensureDatabase(cluster);
  const port = await portNear(PORTS.api);
  const opsPort = await portNear(PORTS.ops);
  const baseUrl = `http://127.0.0.1:${port}`;
  say('Starting the simulator …');
  const simulator = await begin(
    'simulator',
    startSimulator(join(dataDir, 'simulator'), await portNear(PORTS.simulator), [baseUrl]),
  );
  const settings = serverSettings({
    databaseUrl: cluster.url(DATABASE),
    simulatorUrl: simulator.url,
    baseUrl,
    port,
    opsPort,
  });
  keepSettings(settings);
  say('Migrating the database …');
  await runServerCommand(['migrate'], settings);
  const { apiKey } = await seedOrganization(settings);
  say('Starting the server …');
  const server = await begin('server', startServer('all', settings, keepLog));
  return {
    baseUrl,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    checkoutUrl: settings['CAUDAL_CHECKOUT_URL'] ?? '',
    simulatorUrl: simulator.url,
    databaseUrl: cluster.url(DATABASE),
    apiKey,
    children: [simulator, server],
  };
}

/** For operator commands against this stack: `node --env-file=… server/src/main.ts …`. */
function keepSettings(settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(settingsFile(), lines.join(''), { mode: 0o600 });
}

function settingsFile(): string {
  return join(dataDir, 'server.env');
}

/** For `caudal`, which finds the stack of the clone it is called in by this file. */
function keepAddresses({ baseUrl, checkoutUrl, simulatorUrl, opsUrl, apiKey }: Running): void {
  const stack = { baseUrl, checkoutUrl, simulatorUrl, opsUrl, apiKey, pid: process.pid };
  // Under another name first: whoever reads it meanwhile finds all of it or nothing.
  const draft = `${addressesFile()}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, addressesFile());
  addressesKept = true;
}

function addressesFile(): string {
  return join(dataDir, 'stack.json');
}

/** Registers what is being started, so that an interruption in the middle of it ends it too. */
async function begin<T extends PostgresCluster | Child>(name: string, starting: Promise<T>): Promise<T> {
  started.push({
    name,
    stop: async () => {
      const it = await starting.catch(() => null);
      await it?.stop();
    },
    kill: () =>
      void starting.then((it) => ('kill' in it ? it.kill('SIGKILL') : undefined)).catch(() => undefined),
  });
  return starting;
}

async function ensureDatabase(cluster: PostgresCluster): Promise<void> {
  const client = new Client({ connectionString: cluster.url('postgres') });
  await client.connect();
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  await client.end();
}

/** The whole log goes to a file; what a developer must not miss is shown as well. */
function keepLog(line: string): void {
  appendFileSync(join(dataDir, 'server.log'), `${line}\n`);
  if (/^\{"level":"(?:warn|error|fatal)"/.test(line)) console.error(line);
}

/** The usual port when it is free, else any: two clones can run side by side. */
async function portNear(port: number): Promise<number> {
  if (anyPorts) return freePort();
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return free ? port : freePort();
}

function welcome(running: Running): string {
  const body =
    '{"amountInCents":4980000,"currency":"COP","rail":"BRE_B","reference":"order-\'$(date +%s)\'","breb":{"keyType":"SINGLE_USE"}}';
  const payout =
    '{"amountInCents":1000000,"currency":"COP","rail":"BRE_B","reference":"salary-\'$(date +%s)\'","inlineCustomer":{"name":"Janeth Smith","idType":"CO_CC","idNumber":"1000000099","phone":"+573001234567","email":"janeth@example.com"},"breb":{"keyString":"@TESTOK"}}';
  return `
Caudal is running. Data is kept in ${relative(process.cwd(), dataDir)} (npm run dev -- --fresh forgets it); Ctrl-C stops everything.

  API        ${running.baseUrl}
  Docs       ${running.baseUrl}/docs
  Metrics    ${running.opsUrl}/metrics
  Simulator  ${running.simulatorUrl}   (the rails: pay there, or with idNumber 1000000001 it is paid by itself)
  Database   ${running.databaseUrl}
  Log        ${relative(process.cwd(), join(dataDir, 'server.log'))}
  API key    ${running.apiKey}

${commands(running)}
Create a payin:

  curl -s ${running.baseUrl}/payins \\
    -H 'x-api-key: ${running.apiKey}' \\
    -H 'content-type: application/json' \\
    -d '${body}'

Send money (README.md has more keys):

  curl -s ${running.baseUrl}/payouts \\
    -H 'x-api-key: ${running.apiKey}' \\
    -H 'content-type: application/json' \\
    -d '${payout}'
`;
}

/** What to type next, in another terminal. */
function commands(running: Running): string {
  const usual = dataDir === USUAL_DATA;
  const merchant = usual ? '' : ` --base-url ${running.baseUrl} --api-key ${running.apiKey}`;
  const operator = usual ? '' : ` --env-file ${relative(process.cwd(), settingsFile())}`;
  return `In another terminal:

  events as they happen    npx caudal listen${merchant}
  a payment, paid at once  npx caudal trigger payin.confirmed${merchant}
  is everything well?      npx caudal doctor${operator}
  all commands             npx caudal help
`;
}

main().then(
  (code) => {
    process.exit(code);
  },
  (error: unknown) => {
    const usage = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
    console.error(`${error instanceof Error ? error.message : String(error)}${usage ? `\n\n${HELP}` : ''}`);
    process.exit(usage ? 2 : 1);
  },
);
