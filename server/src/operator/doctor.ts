import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { compose, railProbes } from '../compose.ts';
import { type Config, rawSettings } from '../config.ts';
import { type DatabaseFacts, measureDatabaseClock, readDatabaseFacts } from '../db/diagnostics.ts';
import type { SystemDeps } from '../deps.ts';
import { readGuard } from '../flows/operations/guard-sending.system.ts';
import { listRailPauses } from '../flows/operations/pause-rail.system.ts';
import { monotonicMs } from '../kit/clock.ts';
import { deadline, multiplyDeadlines } from '../kit/deadline.ts';
import { type ClockDifference, probe } from '../kit/http-probe.ts';
import { makeLog } from '../kit/log.ts';
import { describeNetworkFailure } from '../kit/network-failure.ts';
import { RAILS } from '../rails/contract.ts';
import { certificatesFinding, missingCredentials } from './doctor-certificates.ts';
import {
  examineFacts,
  examineLogins,
  examineMigrations,
  examineMonths,
  examineRoles,
  examineWrites,
} from './doctor-database.ts';
import { clockFinding, pausesFinding, railFinding, sendingFinding } from './doctor-rails.ts';
import { examineSettings } from './doctor-settings.ts';
import { examineSurroundings } from './doctor-surroundings.ts';
import {
  anomaliesFinding,
  endpointsFinding,
  eventsFinding,
  ledgerFinding,
  noticesFinding,
  payoutsFinding,
  schedulesFinding,
  waitingKeysFinding,
} from './doctor-work.ts';
import { counted, type Finding, ok, runCheck, skip, warn } from './finding.ts';
import type { Options, Output } from './options.ts';
import { UsageError } from './options.ts';

/** Timeout of one probe; at most two run in sequence. */
const PROBE_TIMEOUT_MS = 4000;
const STATEMENT_TIMEOUT_MS = 3000;

const NEEDS_DATABASE =
  'sending, migrations, roles, durability, writes, months, standby, archive, pauses, keys waiting, notices, payouts, anomalies, ledger, endpoints, events and schedules';

/** Runs all health checks. It changes nothing except the row of its test write. */
export async function doctor(options: Options, print: (output: Output) => void): Promise<Output> {
  const interval = options.matching('watch', /^\d{1,4}$/, 'a number of seconds, 1 to 3600', '');
  if (interval === '') return examination();
  const seconds = Number(interval);
  if (seconds < 1 || seconds > 3600) throw new UsageError('--watch must be a number of seconds, 1 to 3600');
  for (;;) {
    print(await examination());
    await sleep(seconds * 1000);
  }
}

async function examination(): Promise<Output> {
  const startedAt = monotonicMs();
  const findings = await examine();
  const tookMs = Math.round(monotonicMs() - startedAt);
  const count = (status: Finding['status']) => findings.filter((each) => each.status === status).length;
  const failed = count('fail');
  const verdict = [
    failed === 0 ? 'no check failed' : `${failed} failed`,
    ...(count('warn') > 0 ? [counted(count('warn'), 'warning')] : []),
    `${count('ok')} ok`,
  ].join(', ');
  return {
    json: { ok: failed === 0, tookMs, checks: findings },
    text: `${findings.map(lines).join('\n')}\n\n${verdict} (${tookMs} ms)`,
    bad: failed > 0,
  };
}

const COLORS = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'gray' } as const;

function lines({ name, status, message, todo }: Finding): string {
  const mark = styleText(COLORS[status], status.padEnd(4));
  const margin = ' '.repeat(4 + 2 + 15);
  const text = [...message.split('\n'), ...(todo === null ? [] : [`→ ${todo}`])].join(`\n${margin}`);
  return `${mark}  ${name.padEnd(13)}  ${text}`;
}

async function examine(): Promise<Finding[]> {
  const { config, findings } = examineSettings();
  if (!config)
    return [...findings, skip('not looked at', 'all other checks: they need a valid configuration')];
  multiplyDeadlines(config.testDeadlineFactor);
  const [logins, rails, process] = await Promise.all([
    examineLogins(config.database),
    examineRails(config),
    runCheck('process', () => processFinding(config)),
  ]);
  const clocks = new Map(rails.clocks);
  const database = logins.reachable ? await examineDatabase(config, clocks) : null;
  return [
    // First, because nothing else matters as much while no money moves.
    ...(database ? [database.sending] : []),
    ...findings,
    ...logins.findings,
    ...(database?.about ?? [skip('not looked at', `checks that need the database: ${NEEDS_DATABASE}`)]),
    clockFinding(clocks, database?.shiftSeconds ?? null),
    ...rails.findings,
    ...certificatesFinding(config.certificates),
    ...(database?.work ?? []),
    process,
  ];
}

async function examineRails(
  config: Config,
): Promise<{ findings: Finding[]; clocks: [string, ClockDifference][] }> {
  const probes = railProbes(config);
  const urls = { BRE_B: config.breb.url, PSE: config.pse.url };
  const missing = missingCredentials(rawSettings());
  const probed = await Promise.all(
    RAILS.filter((rail) => missing[rail] === null).map(async (rail) => ({
      rail,
      probe: await probes[rail](AbortSignal.timeout(deadline(PROBE_TIMEOUT_MS))),
    })),
  );
  return {
    findings: [
      ...probed.map(({ rail, probe }) => railFinding(rail, urls[rail], probe)),
      ...RAILS.flatMap((rail) => missing[rail] ?? []),
    ],
    clocks: probed.flatMap(({ rail, probe }) =>
      probe.ahead ? [[rail, probe.ahead] satisfies [string, ClockDifference]] : [],
    ),
  };
}

/** @param clocks the clock of the database is added to it */
async function examineDatabase(
  config: Config,
  clocks: Map<string, ClockDifference>,
): Promise<{ sending: Finding; about: Finding[]; work: Finding[]; shiftSeconds: number | null }> {
  const log = makeLog({ level: 'silent', base: { role: 'operator' } });
  const database = { ...config.database, deadlineMs: deadline(STATEMENT_TIMEOUT_MS) };
  const { deps, close } = compose({ ...config, database, failpoint: null }, log);
  try {
    // First, because pending migrations explain missing tables in the other checks.
    const migrations = await runCheck('migrations', () => examineMigrations(deps.system));
    const checkDatabase: RunCheck = (name, check) => runCheck(name, check, migrations.status === 'ok');
    const facts = readDatabaseFacts(deps.system);
    const [sending, roles, about, writes, months, surroundings, clock, work] = await Promise.all([
      checkDatabase('sending', async () => sendingFinding(await readGuard(deps))),
      checkDatabase('roles', () => examineRoles(deps.system, config)),
      facts.then(
        (known) => examineFacts(known, config),
        async (error: unknown) => [await checkDatabase('deployment', () => Promise.reject(error))],
      ),
      checkDatabase('writes', () => examineWrites(deps.system)),
      checkDatabase('months', () => examineMonths(deps.system)),
      examineSurroundings(deps.system, config.environment === 'production').catch(async (error: unknown) => [
        await checkDatabase('standby', () => Promise.reject(error)),
      ]),
      measureDatabaseClock(deps.system).catch(() => null),
      examineWork(deps, facts, checkDatabase),
    ]);
    if (clock) clocks.set('the database', clock);
    const shift = await facts.then(({ shift_seconds }) => shift_seconds).catch(() => null);
    return {
      sending,
      about: [migrations, roles, ...about, writes, months, ...surroundings],
      work,
      shiftSeconds: shift,
    };
  } finally {
    await close();
  }
}

type RunCheck = (name: string, check: () => Promise<Finding>) => Promise<Finding>;

function examineWork(deps: SystemDeps, facts: Promise<DatabaseFacts>, check: RunCheck): Promise<Finding[]> {
  const pauses = listRailPauses(deps);
  // The checks that await it report a failure; this avoids an unhandled rejection before they do.
  pauses.catch(() => undefined);
  return Promise.all([
    check('pauses', async () => pausesFinding(await pauses)),
    check('keys waiting', () => waitingKeysFinding(deps)),
    check('notices', () => noticesFinding(deps)),
    check('payouts', async () =>
      payoutsFinding(
        deps,
        (await pauses).some(({ rail }) => rail === 'BRE_B'),
      ),
    ),
    check('anomalies', () => anomaliesFinding(deps)),
    check('ledger', async () => ledgerFinding(deps, (await facts).migrated_at)),
    check('endpoints', () => endpointsFinding(deps)),
    check('events', () => eventsFinding(deps)),
    check('schedules', async () => schedulesFinding(deps, (await facts).migrated_at)),
  ]);
}

/** Checks whether a process with this configuration runs on this machine; it may also run on another. */
async function processFinding({ ops }: Config): Promise<Finding> {
  if (ops.port === 0) return skip('process', 'CAUDAL_OPS_PORT is 0: the port is unknown');
  const host = ops.host === '0.0.0.0' || ops.host === '::' ? '127.0.0.1' : ops.host;
  const url = `http://${host}:${ops.port}/readyz`;
  try {
    const { status, text } = await probe({ url, signal: AbortSignal.timeout(deadline(PROBE_TIMEOUT_MS)) });
    if (status === 200) return ok('process', `${url} reports ready`);
    const { reasons } = JSON.parse(text) as { reasons?: readonly string[] };
    return warn(
      'process',
      `${url} answered ${status}: ${reasons?.join('; ') ?? 'no reason given'}`,
      'see the other findings and the log of the process',
    );
  } catch (error) {
    return skip('process', `${url}: ${describeNetworkFailure(error)}. No server role runs on this machine`);
  }
}
