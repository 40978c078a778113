import type { Cluster } from '../cluster.ts';
import { say, type tally } from '../outcome.ts';
import { type Stage, type StageOptions, startStage } from '../stage.ts';
import type { Verdict } from '../verdict.ts';
import { PatchedServer } from './patched-server.ts';
import type { Patch } from './planted-bug.ts';

/** A stage on which little happens, step by step. */
interface Scenario {
  /** The checker's word when all has come to rest, or has not within this time. */
  verdict(restsWithinMs?: number): Promise<Verdict>;
  end(): Promise<void>;
}

/** A mistake, what has to happen for it to show, and what the checker must then say. */
export interface ScenarioBug<RunScenario> {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly scenario: (scenario: RunScenario) => Promise<void>;
  /** One of these. */
  readonly breaks: readonly string[];
}

interface Subject<RunScenario> {
  /** What the bugs are about. */
  readonly of: string;
  readonly bugs: readonly ScenarioBug<RunScenario>[];
  readonly scenarioOn: (stage: Stage) => Promise<RunScenario>;
}

/** Some bugs show by work that never rests: on their server no longer than this. */
const RESTS_WITHIN_MS = 4000;

/** Where two have to meet they may miss each other on a machine that is busy. */
const TRIES = 3;
/** Much of a scenario is waiting. */
const LANES = 2;

/** Every bug is found by the checker after its own scenario, which leaves the server as it is whole. */
export async function findScenarioBugs<RunScenario extends Scenario>(
  cluster: Cluster,
  outcome: ReturnType<typeof tally>,
  subject: Subject<RunScenario>,
): Promise<void> {
  if (subject.bugs.length === 0) return;
  const waiting = subject.bugs[Symbol.iterator]();
  const lane = async () => {
    const server = new PatchedServer();
    try {
      for (const bug of waiting) await find(cluster, server, subject, bug, outcome);
    } finally {
      server.remove();
    }
  };
  await Promise.all([onSoundServer(cluster, outcome, subject), ...Array.from({ length: LANES }, lane)]);
}

async function onSoundServer<RunScenario extends Scenario>(
  cluster: Cluster,
  outcome: ReturnType<typeof tally>,
  subject: Subject<RunScenario>,
): Promise<void> {
  const fail = (what: string) =>
    outcome.fail(`the scenarios of ${subject.of} fail on the server as it is: ${what}`);
  try {
    const { whole, text } = await onStage(cluster, subject, { workers: 1 }, async (scenario) => {
      for (const bug of subject.bugs) await bug.scenario(scenario);
      return scenario.verdict();
    });
    if (!whole) fail(text);
  } catch (error) {
    fail(String(error));
  }
}

async function find<RunScenario extends Scenario>(
  cluster: Cluster,
  server: PatchedServer,
  subject: Subject<RunScenario>,
  { name, patches, scenario: act, breaks }: ScenarioBug<RunScenario>,
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const began = performance.now();
  try {
    server.plant(patches);
    const options = { serverRoot: server.root, apis: 1, workers: 1 };
    const { whole, text } = await onStage(cluster, subject, options, async (scenario) => {
      let verdict = await played(scenario, act);
      for (let tries = 1; verdict.whole && tries < TRIES; tries += 1) verdict = await played(scenario, act);
      return verdict;
    });
    const broken = breaks.find((promise) => text.includes(`VIOLATION  ${promise}:`));
    if (whole) outcome.fail(`${name}: not found`);
    else if (broken === undefined) outcome.fail(`${name}: found by something else: ${text}`);
    else {
      outcome.pass();
      say(`  ok    ${name}: "${broken}" is broken (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    }
  } catch (error) {
    outcome.fail(`${name}: ${String(error)}`);
  } finally {
    server.weed(patches);
  }
}

async function played<RunScenario extends Scenario>(
  scenario: RunScenario,
  act: ScenarioBug<RunScenario>['scenario'],
): Promise<Verdict> {
  await act(scenario);
  return scenario.verdict(RESTS_WITHIN_MS);
}

async function onStage<RunScenario extends Scenario>(
  cluster: Cluster,
  { scenarioOn }: Subject<RunScenario>,
  options: StageOptions,
  act: (scenario: RunScenario) => Promise<Verdict>,
): Promise<Verdict> {
  // Little happens on it, and it shares two cores with others.
  const stage = await startStage(cluster, { ...options, settings: { CAUDAL_WORKER_POLL_MS: '100' } });
  const scenario = await scenarioOn(stage);
  try {
    return await act(scenario);
  } finally {
    // Not asked to end: with its mistake it might not.
    await Promise.all([...stage.apis, ...stage.workers].map((member) => member.kill()));
    await stage.stop();
    await scenario.end();
  }
}
