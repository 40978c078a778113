import { hostname } from 'node:os';
import { authorFromSettings, type Config, ConfigError, loadEnvFile, readConfig } from './config.ts';
import { VERSION } from './kit/build.ts';
import { realTime } from './kit/clock.ts';
import { errorFields, type Log, makeLog } from './kit/log.ts';
import { migrationAuthor } from './operator/author.ts';

const ROLES = ['api', 'worker', 'all', 'migrate'] as const;
type ServerRole = (typeof ROLES)[number];

/** Which process wrote a log line. */
const PROCESS = { version: VERSION, host: hostname(), pid: process.pid };

/** Time to stop after draining, longer than any request or worker round takes. The process exits when it has passed. */
const STOP_WITHIN_MS = 20_000;

/** Imports the modules of a role only when it runs: all of them together take a second of CPU time, also for a short command. */
async function main(args: readonly string[]): Promise<number> {
  const { argv, file } = extractEnvFile(args);
  if (file === '') {
    process.stderr.write('caudal: --env-file requires a file name. Try: caudal help\n');
    return 2;
  }
  if (file !== null) loadEnvFile(file);
  const [first, ...rest] = argv;
  const role = ROLES.find((name) => name === first);
  if (!role) return runOperatorCommand(argv);
  if (rest.some((arg) => arg === '--help' || arg === '-h')) return runOperatorCommand(['help', role]);
  const author = role === 'migrate' ? migrationAuthor(rest, authorFromSettings()) : '';
  if (author === null) {
    process.stderr.write(
      'caudal migrate takes --by NAME (1 to 120 printable characters) and --env-file FILE. Try: caudal help migrate\n',
    );
    return 2;
  }
  if (role !== 'migrate' && rest.length > 0) {
    process.stderr.write(
      `caudal ${role} takes no arguments except --env-file FILE. Configure it with environment variables (docs/reference/configuration.md)\n`,
    );
    return 2;
  }
  const config = readConfig(role);
  const log = makeLog({ level: config.logLevel, base: { role, ...PROCESS } });
  try {
    if (role !== 'migrate') return await runServer(role, config, log);
    const { migrateDatabase } = await import('./migrate-database.ts');
    await migrateDatabase(config, log, author);
    return 0;
  } finally {
    log.flush();
  }
}

async function runOperatorCommand(argv: readonly string[]): Promise<number> {
  const { operatorCommand } = await import('./operator/command.ts');
  return operatorCommand(argv);
}

/** Removes `--env-file FILE` from the arguments; it may appear anywhere. */
function extractEnvFile(args: readonly string[]): { argv: string[]; file: string | null } {
  const argv = [...args];
  let file: string | null = null;
  for (;;) {
    const at = argv.findIndex((arg) => arg === '--env-file' || arg.startsWith('--env-file='));
    if (at === -1) return { argv, file };
    const [arg = '', next = ''] = argv.splice(at, argv[at] === '--env-file' ? 2 : 1);
    file = arg === '--env-file' ? next : arg.slice('--env-file='.length);
  }
}

async function runServer(role: Exclude<ServerRole, 'migrate'>, config: Config, log: Log): Promise<number> {
  const { serve } = await import('./serve.ts');
  const { port, opsPort, stop } = await serve(role, config, log);
  const { environment, cell } = config;
  // Before "ready" is announced: a supervisor may stop the process as soon as it reads that.
  const stopRequested = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(name));
    // A server started with an IPC channel stops when its parent closes the channel.
    if (process.connected) process.once('disconnect', () => resolve('disconnect'));
  });
  log.info({ code: 'ready', port, opsPort, environment, cell }, 'ready');
  log.flush();
  process.send?.({ ready: true, port, opsPort });
  const signal = await stopRequested;
  log.info({ code: 'stopping', signal }, 'stopping');
  const deadline = setTimeout(() => {
    log.error({ code: 'stop_timed_out' }, 'graceful stop timed out; exiting');
    log.flush();
    process.exit(1);
  }, config.drainMs + STOP_WITHIN_MS);
  await stop();
  clearTimeout(deadline);
  log.info({ code: 'stopped' }, 'stopped');
  return 0;
}

process.on('unhandledRejection', (error) => {
  process.stderr.write(
    `${JSON.stringify({ level: 'fatal', time: realTime().toISOString(), ...PROCESS, code: 'unhandled_rejection', msg: 'unhandled promise rejection', ...errorFields(error) })}\n`,
  );
  process.exit(1);
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
    if (process.connected) process.disconnect();
  },
  (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const role = ROLES.find((name) => name === extractEnvFile(process.argv.slice(2)).argv[0]);
    // stderr is for people; log collectors find the same failure on stdout by its code.
    if (role) process.stdout.write(`${startFailure(role, reason, error instanceof ConfigError)}\n`);
    process.stderr.write(`${reason}\n`);
    process.exit(1);
  },
);

function startFailure(role: ServerRole, reason: string, isConfigError: boolean): string {
  const code = isConfigError ? 'configuration_invalid' : 'start_failed';
  return JSON.stringify({
    level: 'fatal',
    time: realTime().toISOString(),
    role,
    ...PROCESS,
    code,
    reason,
    msg: 'failed to start',
  });
}
