import type { Cluster } from '../cluster.ts';
import { say, type tally } from '../outcome.ts';
import { type StageOptions, startStage } from '../stage.ts';
import type { Verdict } from '../verdict.ts';
import { WEBHOOK_BUGS, type WebhookBug } from './bugs-of-webhooks.ts';
import { PatchedServer } from './patched-server.ts';
import { WebhookDrill } from './webhook-drill.ts';

/** Some bugs show by work that never rests: on their server no longer than this. */
const RESTS_WITHIN_MS = 4000;

/** Where two have to meet they may miss each other on a machine that is busy. */
const TRIES = 3;
/** Much of a drill is waiting. */
const LANES = 2;

/** Every planted bug of webhooks is found by the checker after its own drill, which leaves the server as it is whole. */
export async function findWebhookBugs(cluster: Cluster, outcome: ReturnType<typeof tally>): Promise<void> {
  const waiting = WEBHOOK_BUGS[Symbol.iterator]();
  const lane = async () => {
    const server = new PatchedServer();
    try {
      for (const bug of waiting) await find(cluster, server, bug, outcome);
    } finally {
      server.remove();
    }
  };
  await Promise.all([onSoundServer(cluster, outcome), ...Array.from({ length: LANES }, lane)]);
}

async function onSoundServer(cluster: Cluster, outcome: ReturnType<typeof tally>): Promise<void> {
  try {
    const { whole, text } = await drillOn(cluster, { workers: 1 }, async (drill) => {
      for (const bug of WEBHOOK_BUGS) await bug.drill(drill);
      return drill.verdict();
    });
    if (!whole) outcome.fail(`the drills of webhooks fail on the server as it is: ${text}`);
  } catch (error) {
    outcome.fail(`the drills of webhooks fail on the server as it is: ${String(error)}`);
  }
}

async function find(
  cluster: Cluster,
  server: PatchedServer,
  { name, patches, drill: act, breaks }: WebhookBug,
  outcome: ReturnType<typeof tally>,
): Promise<void> {
  const began = performance.now();
  try {
    server.plant(patches);
    const options = { serverRoot: server.root, apis: 1, workers: 1 };
    const { whole, text } = await drillOn(cluster, options, async (drill) => {
      let verdict = await played(drill, act);
      for (let tries = 1; verdict.whole && tries < TRIES; tries += 1) verdict = await played(drill, act);
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

async function played(drill: WebhookDrill, act: WebhookBug['drill']): Promise<Verdict> {
  await act(drill);
  return drill.verdict(RESTS_WITHIN_MS);
}

async function drillOn(
  cluster: Cluster,
  options: StageOptions,
  act: (drill: WebhookDrill) => Promise<Verdict>,
): Promise<Verdict> {
  // Little happens on it, and it shares two cores with others.
  const stage = await startStage(cluster, { ...options, settings: { CAUDAL_DUE_EVERY_MS: '100' } });
  const drill = await WebhookDrill.on(stage);
  try {
    return await act(drill);
  } finally {
    // Not asked to end: with its mistake it might not.
    await Promise.all([...stage.apis, ...stage.workers].map((member) => member.kill()));
    await stage.stop();
    await drill.end();
  }
}
