/**
 * npm run dev: a complete Caudal stack on one machine: PostgreSQL, migrations, simulator, server and an organization
 * with an API key. Data stays in .data/dev until `-- --fresh` deletes it.
 */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { type BuildTarget, buildInBackground, DOCS, isStale, PACKAGES } from './stack/background-build.ts';
import type { Child } from './stack/child.ts';
import { freePort } from './stack/free-port.ts';
import { type PostgresCluster, startPostgres } from './stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from './stack/processes.ts';
import { seedOrganization } from './stack/seed.ts';
import { serverSettings } from './stack/settings.ts';

const DATABASE = 'caudal';
const PORTS = { api: 8080, ops: 9090, simulator: 4010, postgres: 54_329 };

const HELP = `npm run dev [-- OPTIONS]: a complete Caudal stack on this machine

  --fresh      delete the data of earlier runs
  --json       print only one JSON line when the stack is ready
  --any-ports  use any free ports instead of the default ones, to run several stacks at once
  --data DIR   store data and logs in DIR instead of .data/dev
  --help       show this help

Uses the ports ${Object.values(PORTS).join(', ')}, or free ones where these are in use.
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

/** The `caudal` CLI finds a stack only in the default directory. */
const DEFAULT_DATA = fileURLToPath(new URL('../.data/dev', import.meta.url));
let dataDir = DEFAULT_DATA;

/** Whether this run wrote the addresses file; before that, the file may belong to another run in the same directory. */
let addressesSaved = false;

/** Deadlines of the tests that start this program (scripts/testing/patient-settings.ts). */
function settingsOfTests(): Record<string, string> {
  const names = ['CAUDAL_DATABASE_DEADLINE_MS', 'CAUDAL_TEST_DEADLINE_FACTOR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Whether to use free ports instead of the default ones. */
let anyPorts = false;

/** Started processes in start order; they are stopped in reverse order. */
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
  const print = (text: string) => (values.json ? undefined : console.error(text));
  const interrupted = new Promise<'interrupted'>((resolve) => {
    let times = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        times += 1;
        // A second signal kills all processes without waiting for a graceful stop.
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
    const running = await Promise.race([start(print), interrupted]);
    if (running === 'interrupted') return 0;
    saveAddresses(running);
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
      buildIfStale(DOCS, print);
    }
    buildIfStale(PACKAGES, print);
    const crashed = running.children.map((child) =>
      child.exited.then((code) => ({ code, output: child.output() })),
    );
    const end = await Promise.race([interrupted, ...crashed]);
    if (end === 'interrupted') return 0;
    console.error(
      `A process exited unexpectedly with code ${end.code}. Its last output:\n${end.output.slice(-3000)}`,
    );
    return 1;
  } finally {
    // Deleted first: the CLI takes the file as a sign that the stack is running.
    if (addressesSaved) rmSync(addressesFile(), { force: true });
    print('\nStopping …');
    for (const { stop } of started.toReversed()) await stop();
  }
}

/**
 * npm sends SIGTERM to the shell in between, which exits without forwarding it. Checked only under npm: without npm, the
 * parent of a background process may exit while the stack keeps running.
 */
function whenOrphaned(onOrphaned: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && onOrphaned(), 1000).unref();
}

/** Builds while the stack is already running, so that users do not wait for it. */
function buildIfStale(target: BuildTarget, print: (text: string) => void): void {
  if (!isStale(target)) return;
  const { title, script } = target;
  print(`Building the ${title} …`);
  const build = buildInBackground(target);
  started.push({ name: script, stop: build.stop, kill: build.kill });
  void build.done.then((end) => {
    if (end === 'built') print(`The ${title} are built.`);
    if (end === 'failed') print(`The build of the ${title} failed. Run \`npm run ${script}\` to see why.`);
  });
}

async function start(print: (text: string) => void): Promise<Running> {
  print('Starting PostgreSQL …');
  const cluster = await register(
    'postgres',
    startPostgres({ dataDir: join(dataDir, 'postgres'), port: await choosePort(PORTS.postgres) }),
  );
  // This run now holds the data directory, so an existing addresses file is left over from a killed stack.
  rmSync(addressesFile(), { force: true });
  await ensureDatabase(cluster);
  const port = await choosePort(PORTS.api);
  const opsPort = await choosePort(PORTS.ops);
  const baseUrl = `http://127.0.0.1:${port}`;
  print('Starting the simulator …');
  const simulator = await register(
    'simulator',
    startSimulator(join(dataDir, 'simulator'), await choosePort(PORTS.simulator), [baseUrl]),
  );
  const settings = {
    ...serverSettings({
      databaseUrl: cluster.url(DATABASE),
      simulatorUrl: simulator.url,
      baseUrl,
      port,
      opsPort,
    }),
    ...settingsOfTests(),
  };
  saveSettings(settings);
  print('Migrating the database …');
  await runServerCommand(['migrate'], settings);
  const { apiKey } = await seedOrganization(settings);
  print('Starting the server …');
  const server = await register('server', startServer('all', settings, logLine));
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

/** For operator commands on this stack: `node --env-file=… server/src/main.ts …`. */
function saveSettings(settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(settingsFile(), lines.join(''), { mode: 0o600 });
}

function settingsFile(): string {
  return join(dataDir, 'server.env');
}

/** The `caudal` CLI finds the stack of the current clone through this file. */
function saveAddresses({ baseUrl, checkoutUrl, simulatorUrl, opsUrl, apiKey }: Running): void {
  const stack = { baseUrl, checkoutUrl, simulatorUrl, opsUrl, apiKey, pid: process.pid };
  // Written under another name and renamed, so that readers never see a partial file.
  const temporary = `${addressesFile()}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, addressesFile());
  addressesSaved = true;
}

function addressesFile(): string {
  return join(dataDir, 'stack.json');
}

/** Registers a starting process, so that an interruption during its start stops it too. */
async function register<T extends PostgresCluster | Child>(name: string, starting: Promise<T>): Promise<T> {
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

/** Writes the full log to a file, and prints warnings and errors. */
function logLine(line: string): void {
  appendFileSync(join(dataDir, 'server.log'), `${line}\n`);
  if (/^\{"level":"(?:warn|error|fatal)"/.test(line)) console.error(line);
}

/** The default port when it is free, else any free port, so that two clones can run side by side. */
async function choosePort(port: number): Promise<number> {
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
Caudal is running. Data is stored in ${relative(process.cwd(), dataDir)} (npm run dev -- --fresh deletes it); Ctrl-C stops everything.

  API        ${running.baseUrl}
  Docs       ${running.baseUrl}/docs
  Packages   ${running.baseUrl}/packages   (the SDK and the command line, for npm install)
  Metrics    ${running.opsUrl}/metrics
  Simulator  ${running.simulatorUrl}   (the simulated rails: pay there; payins with idNumber 1000000001 are paid automatically)
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

/** Suggested next commands for another terminal. */
function commands(running: Running): string {
  const isDefault = dataDir === DEFAULT_DATA;
  const merchant = isDefault ? '' : ` --base-url ${running.baseUrl} --api-key ${running.apiKey}`;
  const operator = isDefault ? '' : ` --env-file ${relative(process.cwd(), settingsFile())}`;
  return `In another terminal:

  stream events            npm run --silent caudal -- listen${merchant}
  simulate a paid payin    npm run --silent caudal -- trigger payin.confirmed${merchant}
  check the health         npm run --silent caudal -- doctor${operator}
  all commands             npm run --silent caudal -- help
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
