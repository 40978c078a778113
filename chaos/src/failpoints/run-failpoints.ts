import { setTimeout as sleep } from 'node:timers/promises';
import { drainPayouts } from '../run/drain-payouts.ts';
import { drainWebhooks, findStalledQueues } from '../run/drain-webhooks.ts';
import { type Outcome, print, tally } from '../run/outcome.ts';
import { startTrial, type Trial } from '../run/trial.ts';
import type { Cluster } from '../stack/cluster.ts';
import type { Member } from '../stack/member.ts';
import type { FaultOrder } from '../stack/rail-control.ts';
import { acceptOne } from './acceptance-trigger.ts';
import { LinkTriggers } from './link-triggers.ts';
import { NetworkTrigger } from './network-trigger.ts';
import { PayoutTriggers } from './payout-triggers.ts';
import { eraseCommand, holdCommand } from './person-commands.ts';
import { type Executor, findExecutor, findTrigger, maxPasses, type Trigger } from './plan.ts';
import { WebhookTriggers } from './webhook-triggers.ts';

const DEATH_TIMEOUT_MS = 30_000;

/**
 * Kills a process once at every failpoint under load, then runs the checker.
 * @param chosen selects failpoints by name
 */
export async function runFailpoints(
  cluster: Cluster,
  seed: number,
  chosen: (name: string) => boolean,
): Promise<Outcome> {
  const startedAt = performance.now();
  print(`failpoints: seed ${seed}`);
  const trial = await startTrial(cluster, seed, { gentle: true, payouts: true, webhooks: true });
  const outcome = tally();
  try {
    const names = JSON.parse(await trial.stack.command('failpoints', 'list', '--json')) as string[];
    const by = Map.groupBy(names.filter(chosen), findTrack);
    // Checks all failpoints, not only the chosen ones, so that an unknown failpoint always fails the run.
    const unreached = names.filter((name) => findTrack(name) === 'unknown');
    for (const name of unreached) outcome.fail(`${name}: missing in chaos/src/failpoints/plan.ts`);
    const pass = async (name: string, work: () => Promise<void>) => {
      const started = performance.now();
      try {
        await work();
        outcome.pass();
        print(`  ok    ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      } catch (error) {
        outcome.fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    const payouts = new PayoutTriggers(trial);
    const triggers = createTriggers(trial, payouts, await WebhookTriggers.on(trial));
    // One process of each role always stays up, so that the load continues.
    await Promise.all([
      dieAtEach(trial, triggers, trial.stack.apis, by.get('api') ?? [], pass),
      dieAtEach(trial, triggers, trial.stack.workers, by.get('worker') ?? [], pass),
      sequentially(by.get('command') ?? [], (name) => pass(name, () => dieInCommand(trial, payouts, name))),
    ]);
    // These crash the database, which would make the other commands fail.
    await sequentially(by.get('api_unknown_commit') ?? [], (name) =>
      pass(name, () => crashDuringCommit(cluster, trial, name)),
    );
    await trial.drain();
    await drainPayouts(trial.stack, trial.load.rails);
    await drainWebhooks(trial.stack);
    const stalled = await findStalledQueues(trial.stack);
    if (stalled !== null) outcome.fail(`stalled webhook queues: ${stalled}`);
    const { ok, text } = await trial.runChecker('drained');
    print(text);
    if (ok) outcome.pass();
    else outcome.fail(`the checker found violations (seed ${seed}); journals: ${trial.keepJournals()}`);
  } finally {
    await trial.end();
  }
  const { payins, payouts, sent } = trial.load.counts;
  print(
    `failpoints: ${payins} payins and ${payouts} payouts by ${sent} requests, ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  );
  return outcome.done();
}

function findTrack(name: string): 'api' | 'worker' | 'api_unknown_commit' | 'command' | 'unknown' {
  const executor = findExecutor(name);
  if (executor === null) return 'unknown';
  return executor === 'api' || executor === 'worker' || executor === 'api_unknown_commit'
    ? executor
    : 'command';
}

async function sequentially(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (const name of names) await work(name);
}

type Triggers = Readonly<Record<Trigger, (api: string) => Promise<unknown>>>;

function createTriggers(trial: Trial, payouts: PayoutTriggers, webhooks: WebhookTriggers): Triggers {
  const { stack } = trial;
  const links = new LinkTriggers(trial);
  const networks = new NetworkTrigger(trial);
  return {
    expiry: () => stack.shiftTime(3_660_000),
    bank_page: () => failRailCalls(trial, { rail: 'PSE', operation: 'create' }),
    key_registration: () => failRailCalls(trial, { rail: 'BRE_B', operation: 'register' }),
    cancellation: (api) => payouts.cancelOne(api),
    lookup: (api) => payouts.lookUp(api),
    expired_resolution: () => payouts.expireResolutions(),
    status_poll: () => payouts.loseAnswers(),
    delivery: () => webhooks.deliver(),
    endpoint: (api) => webhooks.addOne(api),
    new_network: (api) => networks.useFromNewNetwork(api),
    replay: (api) => webhooks.replayOne(api),
    link: (api) => links.createOne(api),
    attempt: (api) => links.startOne(api),
    payer: (api) => links.enterDetails(api),
    method_change: (api) => links.changeOne(api),
    link_close: (api) => links.closeOne(api),
    link_expiry: () => links.expireLinks(),
    receipt: (api) => links.mailReceipt(api === '' ? undefined : api),
    // A worker posts what an API process recorded; it has no address of its own.
    acceptance: (url) => acceptOne(trial, url === '' ? (stack.apis[0]?.url ?? '') : url),
  };
}

/** The process that creates a payin cannot reach its rail, so a worker continues. */
async function failRailCalls(
  { load, stack }: Trial,
  target: Pick<FaultOrder, 'rail' | 'operation'>,
): Promise<void> {
  await load.rails.addFault({ ...target, fault: 'down', times: 3 });
  await sleep(1000);
  await stack.shiftTime(5000);
}

/** One process dies at each failpoint: after each death it restarts with the next failpoint armed. */
async function dieAtEach(
  { random: chance }: Trial,
  triggers: Triggers,
  members: readonly Member[],
  names: readonly string[],
  pass: (name: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const random = chance.branch();
  const member = members[random.integer(0, members.length - 1)];
  if (!member) throw new Error('the stack has no process of this role');
  await sequentially(names, (name) =>
    pass(name, async () => {
      await arm(member, `${name}#${random.integer(1, maxPasses(name))}`);
      const trigger = findTrigger(name);
      const wait = () => awaitDeath(member, trigger && (() => triggers[trigger](member.url)));
      // One process refreshes all expired resolutions at once: each trigger reaches the armed process with a chance of a half.
      if (trigger === 'expired_resolution')
        await whileKilled(
          members.filter((each) => each !== member),
          wait,
        );
      else await wait();
    }),
  );
  await member.restart();
}

/** Kills processes, and restarts them after the work. */
async function whileKilled(members: readonly Member[], work: () => Promise<void>): Promise<void> {
  await Promise.all(members.map((member) => member.kill()));
  try {
    await work();
  } finally {
    await Promise.all(members.map((member) => member.restart()));
  }
}

/** Restarts the process with the failpoint armed. It may die there before it reports that it is ready. */
async function arm(member: Member, failpoint: string): Promise<void> {
  try {
    await member.restart({ CAUDAL_FAILPOINT: failpoint });
  } catch (error) {
    if (!String(error).includes('exited with code null before it was ready')) throw error;
  }
}

/** @param trigger repeated until the process reaches its failpoint */
async function awaitDeath(member: Member, trigger: (() => Promise<unknown>) | null): Promise<void> {
  const deadline = performance.now() + DEATH_TIMEOUT_MS;
  while (member.alive && performance.now() < deadline) {
    await trigger?.();
    await Promise.race([member.exited(), sleep(3000, undefined, { ref: false })]);
  }
  if (member.alive) throw new Error(`not reached within ${DEATH_TIMEOUT_MS / 1000} s`);
}

/** Runs the command in a process that dies, then again: it must take effect once, wherever the process died. */
async function dieInCommand(trial: Trial, payouts: PayoutTriggers, name: string): Promise<void> {
  const command = await buildCommand(trial, payouts, findExecutor(name));
  await trial.operator.runAndDie(name, command);
  await trial.operator.run(command);
  if (findExecutor(name) === 'resolve_payout') await payouts.rejectUndecided();
  if (findExecutor(name) === 'pause') await trial.operator.run({ args: ['rails', 'resume', ...PAUSED] });
}

/** Pauses the rail for all organizations; merchants then get a retryable error. */
const PAUSED = ['--rail', 'PSE'];

async function buildCommand(
  trial: Trial,
  payouts: PayoutTriggers,
  executor: Executor | null,
): Promise<Parameters<Trial['operator']['run']>[0]> {
  const { operator } = trial;
  switch (executor) {
    case 'deposit':
      return operator.deposit();
    case 'reversal':
      return operator.reverse();
    case 'resolve':
      return firstAnomaly(trial);
    case 'resolve_payout':
      return declineCommand(await payouts.undecided());
    case 'settlement':
    case 'subtotals':
    case 'bank-list':
      return operator.schedule(executor);
    case 'data-keys':
      return reencryptCommand(trial);
    case 'pause':
      return { args: ['rails', 'pause', ...PAUSED, '--reason', 'chaos', '--by', 'chaos'] };
    case 'organization':
      return { args: ['org', 'create', '--name', 'Otra', '--support', 'ayuda@otra.example'] };
    case 'rewrap':
      return { args: ['secrets', 'rewrap'] };
    case 'rotate':
      return operator.rotateNew();
    case 'hold':
      return holdCommand();
    case 'erase':
      return eraseCommand(trial);
    default:
      throw new Error('no command reaches this failpoint');
  }
}

/** Encrypts the secret and the URL of an endpoint again. The organization is new, so that it has few values. */
async function reencryptCommand({
  operator,
  stack,
  webhooks,
}: Trial): Promise<Parameters<Trial['operator']['run']>[0]> {
  const organization = await stack.newOrganization();
  await webhooks?.create(organization, `reencrypted-${organization.organizationId}`, null);
  return operator.reencrypt(organization);
}

/** An operator declines a payout that the rail left undecided. */
function declineCommand(payoutId: string): Parameters<Trial['operator']['run']>[0] {
  const args = ['payouts', 'resolve', payoutId, '--decline', '--anyway', '--by', 'chaos', '--note', 'chaos'];
  return { args, doneBefore: /already final/ };
}

/** Waits for an anomaly: the load soon pays some payin twice. */
async function firstAnomaly({ operator }: Trial): Promise<Parameters<Trial['operator']['run']>[0]> {
  const deadline = performance.now() + DEATH_TIMEOUT_MS;
  for (;;) {
    const command = await operator.resolve();
    if (command) return command;
    if (performance.now() > deadline) throw new Error('no anomaly with money appeared');
    await sleep(200);
  }
}

/** Crashes the database during commits, which are slowed to 100 ms, so that their outcome is unknown to the API. */
async function crashDuringCommit(cluster: Cluster, { stack, random }: Trial, name: string): Promise<void> {
  const delayCommits = async (delayUs: number) => {
    await stack.query(`alter system set commit_siblings = 0`);
    await stack.query(`alter system set commit_delay = ${delayUs}`);
    await stack.query('select pg_reload_conf()');
  };
  const member = stack.apis[random.integer(0, stack.apis.length - 1)];
  if (!member) throw new Error('the stack has no API');
  try {
    await delayCommits(100_000);
    await arm(member, name);
    for (let crashes = 0; member.alive && crashes < 8; crashes += 1) {
      await waitForCommit(stack);
      await cluster.crash();
      await Promise.race([member.exited(), sleep(3000)]);
    }
    if (member.alive) throw new Error('not reached in 8 crashes of the database');
  } finally {
    await delayCommits(0);
    await member.restart();
  }
}

/** Waits until an API process commits: after a crash it takes a while until the APIs accept requests again. */
async function waitForCommit(stack: Trial['stack']): Promise<void> {
  const deadline = performance.now() + DEATH_TIMEOUT_MS;
  for (;;) {
    const committing = await stack.query(
      "select from pg_stat_activity where usename = 'caudal_batch' and state = 'active' and query ilike 'commit%'",
    );
    if (committing.length > 0) return;
    if (performance.now() > deadline) throw new Error('no API process commits');
    await sleep(10);
  }
}
