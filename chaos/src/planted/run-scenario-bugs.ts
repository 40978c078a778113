import type { InvariantCode } from '../checker/invariants.ts';
import { print, type tally } from '../run/outcome.ts';
import type { CheckResult } from '../run/run-checker.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type Stack, type StackOptions, startStack } from '../stack/stack.ts';
import { PatchedServer } from './patched-server.ts';
import type { Patch } from './planted-bug.ts';

/** An otherwise idle stack that runs scripted actions. */
interface Scenario {
  /** Waits until the stack is drained or the timeout has passed, then runs the checker. */
  drainAndCheck(idleTimeoutMs?: number): Promise<CheckResult>;
  end(): Promise<void>;
}

/** A bug, the actions that trigger it, and the invariants of which the checker must report one. */
export interface ScenarioBug<RunScenario> {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly scenario: (scenario: RunScenario) => Promise<void>;
  readonly breaks: readonly InvariantCode[];
}

interface Subject<RunScenario> {
  readonly name: string;
  readonly bugs: readonly ScenarioBug<RunScenario>[];
  readonly scenarioOn: (stack: Stack) => Promise<RunScenario>;
}

/** Shorter timeout, because some bugs show as work that never completes. */
const DRAIN_TIMEOUT_MS = 4000;

/** On a busy machine, processes that must contend may miss each other. */
const TRIES = 3;
/** Scenarios mostly wait, so two run concurrently. */
const LANES = 2;

/** Checks that the checker detects each bug after its scenario, which must pass on the unpatched server. */
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
  await Promise.all([
    checkUnpatchedServer(cluster, outcome, subject),
    ...Array.from({ length: LANES }, lane),
  ]);
}

async function checkUnpatchedServer<RunScenario extends Scenario>(
  cluster: Cluster,
  outcome: ReturnType<typeof tally>,
  subject: Subject<RunScenario>,
): Promise<void> {
  const fail = (reason: string) =>
    outcome.fail(`the scenarios of ${subject.name} fail on the unpatched server: ${reason}`);
  try {
    const { ok, text } = await onStack(cluster, subject, { workers: 1 }, async (scenario) => {
      for (const bug of subject.bugs) await bug.scenario(scenario);
      return scenario.drainAndCheck();
    });
    if (!ok) fail(text);
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
  const startedAt = performance.now();
  try {
    server.apply(patches);
    const options = { serverRoot: server.root, apis: 1, workers: 1 };
    const { ok, text } = await onStack(cluster, subject, options, async (scenario) => {
      let result = await runOnce(scenario, act);
      for (let tries = 1; result.ok && tries < TRIES; tries += 1) result = await runOnce(scenario, act);
      return result;
    });
    const violated = breaks.find((invariant) => text.includes(`VIOLATION  ${invariant}:`));
    if (ok) outcome.fail(`${name}: not detected`);
    else if (violated === undefined) outcome.fail(`${name}: detected by another invariant: ${text}`);
    else {
      outcome.pass();
      print(
        `  ok    ${name}: violates ${violated} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
      );
    }
  } catch (error) {
    outcome.fail(`${name}: ${String(error)}`);
  } finally {
    server.revert(patches);
  }
}

async function runOnce<RunScenario extends Scenario>(
  scenario: RunScenario,
  act: ScenarioBug<RunScenario>['scenario'],
): Promise<CheckResult> {
  await act(scenario);
  return scenario.drainAndCheck(DRAIN_TIMEOUT_MS);
}

async function onStack<RunScenario extends Scenario>(
  cluster: Cluster,
  { scenarioOn }: Subject<RunScenario>,
  options: StackOptions,
  act: (scenario: RunScenario) => Promise<CheckResult>,
): Promise<CheckResult> {
  // An idle stack needs little polling, and it shares the CPU with other stacks.
  const stack = await startStack(cluster, { ...options, settings: { CAUDAL_WORKER_POLL_MS: '100' } });
  const scenario = await scenarioOn(stack);
  try {
    return await act(scenario);
  } finally {
    // Kills the processes, since a patched server might not stop gracefully.
    await Promise.all([...stack.apis, ...stack.workers].map((member) => member.kill()));
    await stack.stop();
    await scenario.end();
  }
}
