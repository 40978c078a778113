import { InvariantViolation } from '../model/invariant-violation.ts';
import { runHistory } from '../model/run-history.ts';
import { inWorld } from '../model/world.ts';
import { type Outcome, print, tally } from '../run/outcome.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { LINK_BUGS } from './link-bugs.ts';
import { LinkScenario } from './link-scenario.ts';
import { PatchedServer } from './patched-server.ts';
import type { PlantedBug } from './planted-bug.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { findScenarioBugs } from './run-scenario-bugs.ts';
import { WEBHOOK_BUGS } from './webhook-bugs.ts';
import { WebhookScenario } from './webhook-scenario.ts';

/** On a busy machine, processes that must contend may miss each other. */
const TRIES = 3;
/** Shorter timeout, because some bugs show as work that never completes. */
const DRAIN_TIMEOUT_MS = 5000;

/**
 * Checks that each planted bug is detected by its history or scenario, which must pass on the unpatched server.
 * @param isChosen selects bugs by name
 */
export async function runPlanted(cluster: Cluster, isChosen: (name: string) => boolean): Promise<Outcome> {
  const startedAt = performance.now();
  const chosen = <Bug extends { readonly name: string }>(bugs: readonly Bug[]) =>
    bugs.filter(({ name }) => isChosen(name));
  const [historyBugs, webhookBugs, linkBugs] = [
    chosen(PLANTED_BUGS),
    chosen(WEBHOOK_BUGS),
    chosen(LINK_BUGS),
  ];
  print(`planted bugs: ${historyBugs.length + webhookBugs.length + linkBugs.length}`);
  const outcome = tally();
  if (historyBugs.length > 0) await findByHistories(cluster, historyBugs, outcome);
  const scenarioOn = (stack: Stack) => WebhookScenario.on(stack);
  await findScenarioBugs(cluster, outcome, { name: 'webhooks', bugs: webhookBugs, scenarioOn });
  await findScenarioBugs(cluster, outcome, {
    name: 'links',
    bugs: linkBugs,
    scenarioOn: (stack) => LinkScenario.on(stack),
  });
  print(`planted bugs: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return outcome.done();
}

async function findByHistories(
  cluster: Cluster,
  bugs: readonly PlantedBug[],
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  await checkUnpatchedServer(cluster, bugs, outcome);
  const server = new PatchedServer();
  try {
    for (const bug of bugs) await find(cluster, server, bug, outcome);
  } finally {
    server.remove();
  }
}

async function checkUnpatchedServer(
  cluster: Cluster,
  bugs: readonly PlantedBug[],
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const stack = await startStack(cluster);
  try {
    await inWorld(stack, {}, async (world) => {
      for (const { name, steps } of bugs) {
        try {
          await runHistory(world, steps);
        } catch (error) {
          outcome.fail(`the history of "${name}" fails on the unpatched server: ${String(error)}`);
        }
      }
    });
  } finally {
    await stack.stop();
  }
}

async function find(
  cluster: Cluster,
  server: PatchedServer,
  bug: PlantedBug,
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const startedAt = performance.now();
  try {
    server.apply(bug.patches);
    const found = await findBreach(cluster, server.root, bug);
    if (found === null) outcome.fail(`${bug.name}: not detected`);
    else if (!bug.breaks.includes(found.invariant))
      outcome.fail(`${bug.name}: detected by another invariant: ${found.message}`);
    else {
      outcome.pass();
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      print(`  ok    ${bug.name}: violates ${found.invariant} (${seconds} s)`);
    }
  } catch (error) {
    outcome.fail(`${bug.name}: ${String(error)}`);
  } finally {
    server.revert(bug.patches);
  }
}

async function findBreach(
  cluster: Cluster,
  serverRoot: string,
  { steps, workers = 1, apis = 1 }: PlantedBug,
): Promise<InvariantViolation | null> {
  const stack = await startStack(cluster, { serverRoot, apis, workers });
  try {
    return await inWorld(stack, { idleTimeoutMs: DRAIN_TIMEOUT_MS }, async (world) => {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        try {
          await runHistory(world, steps);
        } catch (error) {
          if (error instanceof InvariantViolation) return error;
          throw error;
        }
      }
      return null;
    });
  } finally {
    // Kills the processes, since a patched server might not stop gracefully.
    await Promise.all([...stack.apis, ...stack.workers].map((member) => member.kill()));
    await stack.stop();
  }
}
