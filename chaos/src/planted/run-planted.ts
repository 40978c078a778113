import type { Cluster } from '../cluster.ts';
import { InvariantViolation, PROMISES } from '../model/invariant-violation.ts';
import { runHistory } from '../model/run-history.ts';
import { inWorld } from '../model/world.ts';
import { type Outcome, say, tally } from '../outcome.ts';
import { type Stage, startStage } from '../stage.ts';
import { LINK_BUGS } from './link-bugs.ts';
import { LinkScenario } from './link-scenario.ts';
import { PatchedServer } from './patched-server.ts';
import type { PlantedBug } from './planted-bug.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { findScenarioBugs } from './run-scenario-bugs.ts';
import { WEBHOOK_BUGS } from './webhook-bugs.ts';
import { WebhookScenario } from './webhook-scenario.ts';

/** Where two have to meet they may miss each other on a machine that is busy. */
const TRIES = 3;
/** Some bugs show by work that never rests: on their server no longer than this. */
const RESTS_WITHIN_MS = 5000;

/**
 * Every planted bug is found by its own history or scenario, which finds nothing in the server as it is.
 * @param isChosen by name
 */
export async function runPlanted(cluster: Cluster, isChosen: (name: string) => boolean): Promise<Outcome> {
  const began = performance.now();
  const chosen = <Bug extends { readonly name: string }>(bugs: readonly Bug[]) =>
    bugs.filter(({ name }) => isChosen(name));
  const [ofHistories, ofWebhooks, ofLinks] = [chosen(PLANTED_BUGS), chosen(WEBHOOK_BUGS), chosen(LINK_BUGS)];
  say(`planted bugs: ${ofHistories.length + ofWebhooks.length + ofLinks.length}`);
  const outcome = tally();
  if (ofHistories.length > 0) await findByHistories(cluster, ofHistories, outcome);
  const scenarioOn = (stage: Stage) => WebhookScenario.on(stage);
  await findScenarioBugs(cluster, outcome, { of: 'webhooks', bugs: ofWebhooks, scenarioOn });
  await findScenarioBugs(cluster, outcome, {
    of: 'links',
    bugs: ofLinks,
    scenarioOn: (stage) => LinkScenario.on(stage),
  });
  say(`planted bugs: ${Math.round((performance.now() - began) / 1000)} s`);
  return outcome.done();
}

async function findByHistories(
  cluster: Cluster,
  bugs: readonly PlantedBug[],
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  await onSoundServer(cluster, bugs, outcome);
  const server = new PatchedServer();
  try {
    for (const bug of bugs) await find(cluster, server, bug, outcome);
  } finally {
    server.remove();
  }
}

async function onSoundServer(
  cluster: Cluster,
  bugs: readonly PlantedBug[],
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const stage = await startStage(cluster);
  try {
    await inWorld(stage, {}, async (world) => {
      for (const { name, steps } of bugs) {
        try {
          await runHistory(world, steps);
        } catch (error) {
          outcome.fail(`the history of "${name}" fails on the server as it is: ${String(error)}`);
        }
      }
    });
  } finally {
    await stage.stop();
  }
}

async function find(
  cluster: Cluster,
  server: PatchedServer,
  bug: PlantedBug,
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const began = performance.now();
  try {
    server.plant(bug.patches);
    const found = await breachOn(cluster, server.root, bug);
    if (found === null) outcome.fail(`${bug.name}: not found`);
    else if (!bug.breaks.includes(found.promise)) outcome.fail(`${bug.name}: found by "${found.message}"`);
    else {
      outcome.pass();
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      say(`  ok    ${bug.name}: "${PROMISES[found.promise]}" is broken (${seconds} s)`);
    }
  } catch (error) {
    outcome.fail(`${bug.name}: ${String(error)}`);
  } finally {
    server.weed(bug.patches);
  }
}

async function breachOn(
  cluster: Cluster,
  serverRoot: string,
  { steps, workers = 1, apis = 1 }: PlantedBug,
): Promise<InvariantViolation | null> {
  const stage = await startStage(cluster, { serverRoot, apis, workers });
  try {
    return await inWorld(stage, { restsWithinMs: RESTS_WITHIN_MS }, async (world) => {
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
    // Not asked to end: with its mistake it might not.
    await Promise.all([...stage.apis, ...stage.workers].map((member) => member.kill()));
    await stage.stop();
  }
}
