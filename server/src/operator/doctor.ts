import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { compose, railProbes } from '../compose.ts';
import type { Config } from '../config.ts';
import { type DatabaseFacts, databaseClock, databaseFacts } from '../db/examine.ts';
import type { SystemDeps } from '../deps.ts';
import { listRailPauses } from '../flows/operations/pause-rail.ts';
import { monotonicMs } from '../kit/clock.ts';
import { type ClockDifference, probe } from '../kit/http-probe.ts';
import { makeLog } from '../kit/log.ts';
import { networkFailure } from '../kit/network-failure.ts';
import { RAILS } from '../rails/contract.ts';
import {
  examineFacts,
  examineLogins,
  examineMigrations,
  examineMonths,
  examineRoles,
  examineWrites,
} from './doctor-database.ts';
import { clockFinding, pausesFinding, railFinding } from './doctor-rails.ts';
import { examineSettings } from './doctor-settings.ts';
import {
  anomaliesFinding,
  endpointsFinding,
  eventsFinding,
  noticesFinding,
  payoutsFinding,
  schedulesFinding,
  waitingKeysFinding,
} from './doctor-work.ts';
import { counted, type Finding, look, ok, skip, warn } from './finding.ts';
import type { Options, Output } from './options.ts';
import { UsageError } from './options.ts';

/** Longest that any one question may take; two follow each other at most. */
const ANSWER_WITHIN_MS = 4000;
const STATEMENT_WITHIN_MS = 3000;

const NEEDS_DATABASE =
  'migrations, roles, durability, writes, months, pauses, keys waiting, notices, payouts, anomalies, endpoints, events and schedules';

/** Looks at everything an operator asks first, and changes nothing but the row of its test write. */
export async function doctor(options: Options, print: (output: Output) => void): Promise<Output> {
  const every = options.matching('watch', /^\d{1,4}$/, 'a number of seconds, 1 to 3600', '');
  if (every === '') return examination();
  const seconds = Number(every);
  if (seconds < 1 || seconds > 3600) throw new UsageError('--watch must be a number of seconds, 1 to 3600');
  for (;;) {
    print(await examination());
    await sleep(seconds * 1000);
  }
}

async function examination(): Promise<Output> {
  const began = monotonicMs();
  const findings = await examine();
  const tookMs = Math.round(monotonicMs() - began);
  const count = (status: Finding['status']) => findings.filter((each) => each.status === status).length;
  const failed = count('fail');
  const verdict = [
    failed === 0 ? 'nothing has failed' : `${failed} failed`,
    ...(count('warn') > 0 ? [counted(count('warn'), 'warning')] : []),
    `${count('ok')} well`,
  ].join(', ');
  return {
    json: { ok: failed === 0, tookMs, checks: findings },
    text: `${findings.map(lines).join('\n')}\n\n${verdict} (${tookMs} ms)`,
    bad: failed > 0,
  };
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'gray' } as const;

function lines({ name, status, says, todo }: Finding): string {
  const mark = styleText(COLOURS[status], status.padEnd(4));
  const margin = ' '.repeat(4 + 2 + 15);
  const text = [...says.split('\n'), ...(todo === null ? [] : [`→ ${todo}`])].join(`\n${margin}`);
  return `${mark}  ${name.padEnd(13)}  ${text}`;
}

async function examine(): Promise<Finding[]> {
  const { config, findings } = examineSettings();
  if (!config)
    return [...findings, skip('not looked at', 'all else: it needs a configuration that can be read')];
  const [logins, rails, process] = await Promise.all([
    examineLogins(config.database),
    examineRails(config),
    look('process', () => processFinding(config)),
  ]);
  const clocks = new Map(rails.clocks);
  const database = logins.reachable ? await examineInside(config, clocks) : null;
  return [
    ...findings,
    ...logins.findings,
    ...(database?.about ?? [skip('not looked at', `without the database: ${NEEDS_DATABASE}`)]),
    clockFinding(clocks, database?.shiftSeconds ?? null),
    ...rails.findings,
    ...(database?.work ?? []),
    process,
  ];
}

async function examineRails(
  config: Config,
): Promise<{ findings: Finding[]; clocks: [string, ClockDifference][] }> {
  const probes = railProbes(config);
  const urls = { BRE_B: config.breb.url, PSE: config.pse.url };
  const looked = await Promise.all(
    RAILS.map(async (rail) => ({ rail, probe: await probes[rail](AbortSignal.timeout(ANSWER_WITHIN_MS)) })),
  );
  return {
    findings: looked.map(({ rail, probe }) => railFinding(rail, urls[rail], probe)),
    clocks: looked.flatMap(({ rail, probe }) =>
      probe.ahead ? [[rail, probe.ahead] satisfies [string, ClockDifference]] : [],
    ),
  };
}

/** @param clocks gets the database's too */
async function examineInside(
  config: Config,
  clocks: Map<string, ClockDifference>,
): Promise<{ about: Finding[]; work: Finding[]; shiftSeconds: number | null }> {
  const log = makeLog({ level: 'silent', base: { role: 'operator' } });
  const database = { ...config.database, deadlineMs: STATEMENT_WITHIN_MS };
  const { deps, close } = compose({ ...config, database, failpoint: null }, log);
  try {
    // First: it says what to make of a table that is not there, and whether it answers at all.
    const migrations = await look('migrations', () => examineMigrations(deps.system));
    const lookInside: Look = (name, ask) => look(name, ask, migrations.status === 'ok');
    const facts = databaseFacts(deps.system);
    const [roles, about, writes, months, clock, work] = await Promise.all([
      lookInside('roles', () => examineRoles(deps.system, config)),
      facts.then(
        (known) => examineFacts(known, config),
        async (error: unknown) => [await lookInside('deployment', () => Promise.reject(error))],
      ),
      lookInside('writes', () => examineWrites(deps.system)),
      lookInside('months', () => examineMonths(deps.system)),
      databaseClock(deps.system).catch(() => null),
      examineWork(deps, facts, lookInside),
    ]);
    if (clock) clocks.set('the database', clock);
    const shift = await facts.then(({ shift_seconds }) => shift_seconds).catch(() => null);
    return { about: [migrations, roles, ...about, writes, months], work, shiftSeconds: shift };
  } finally {
    await close();
  }
}

type Look = (name: string, ask: () => Promise<Finding>) => Promise<Finding>;

function examineWork(deps: SystemDeps, facts: Promise<DatabaseFacts>, lookAt: Look): Promise<Finding[]> {
  const pauses = listRailPauses(deps);
  // Whoever waits for it hears of its failure; nobody else has to.
  pauses.catch(() => undefined);
  return Promise.all([
    lookAt('pauses', async () => pausesFinding(await pauses)),
    lookAt('keys waiting', () => waitingKeysFinding(deps)),
    lookAt('notices', () => noticesFinding(deps)),
    lookAt('payouts', async () =>
      payoutsFinding(
        deps,
        (await pauses).some(({ rail }) => rail === 'BRE_B'),
      ),
    ),
    lookAt('anomalies', () => anomaliesFinding(deps)),
    lookAt('endpoints', () => endpointsFinding(deps)),
    lookAt('events', () => eventsFinding(deps)),
    lookAt('schedules', async () => schedulesFinding(deps, (await facts).migrated_at)),
  ]);
}

/** Whether a process of this configuration answers on this machine; it may well run on another. */
async function processFinding({ ops }: Config): Promise<Finding> {
  if (ops.port === 0) return skip('process', 'CAUDAL_OPS_PORT is 0: where it listens is not known');
  const host = ops.host === '0.0.0.0' || ops.host === '::' ? '127.0.0.1' : ops.host;
  const url = `http://${host}:${ops.port}/readyz`;
  try {
    const { status, text } = await probe({ url, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    if (status === 200) return ok('process', `${url} says ready`);
    const { reasons } = JSON.parse(text) as { reasons?: readonly string[] };
    return warn(
      'process',
      `${url} answered ${status}: ${reasons?.join('; ') ?? 'no reason given'}`,
      'see what else is named here, and its log',
    );
  } catch (error) {
    return skip(
      'process',
      `${url}: ${networkFailure(error)}. If a role should run on this machine, it does not`,
    );
  }
}
