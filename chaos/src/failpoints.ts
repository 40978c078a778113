import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { acceptOne } from './failpoint-acceptances.ts';
import { FailpointLinks } from './failpoint-links.ts';
import { FailpointPayouts } from './failpoint-payouts.ts';
import { type Occasion, occasionOf, type Passer, passerOf, passings } from './failpoint-plan.ts';
import { FailpointWebhooks } from './failpoint-webhooks.ts';
import type { Member } from './member.ts';
import { type Outcome, say, tally } from './outcome.ts';
import { restPayouts } from './payout-rest.ts';
import type { FaultOrder } from './rail-control.ts';
import { startTrial, type Trial } from './trial.ts';
import { forgottenLines, restWebhooks } from './webhook-rest.ts';

const DIES_WITHIN_MS = 30_000;

/**
 * Has a process die once at every failpoint there is, under load, and judges what is left.
 * @param chosen by name
 */
export async function runFailpoints(
  cluster: Cluster,
  seed: number,
  chosen: (name: string) => boolean,
): Promise<Outcome> {
  const began = performance.now();
  say(`failpoints: seed ${seed}`);
  const trial = await startTrial(cluster, seed, { gentle: true, payouts: true, webhooks: true });
  const outcome = tally();
  try {
    const names = JSON.parse(await trial.stage.command('failpoints', 'list', '--json')) as string[];
    const by = Map.groupBy(names.filter(chosen), trackOf);
    // Of all there are, not only of those chosen: a failpoint nobody passes must not wait for its turn.
    const unreached = names.filter((name) => trackOf(name) === 'nobody');
    for (const name of unreached) outcome.fail(`${name}: chaos does not know who passes it`);
    const pass = async (name: string, work: () => Promise<void>) => {
      const started = performance.now();
      try {
        await work();
        outcome.pass();
        say(`  ok    ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      } catch (error) {
        outcome.fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    const payouts = new FailpointPayouts(trial);
    const occasions = occasionsOf(trial, payouts, await FailpointWebhooks.on(trial));
    // One of each role is always untouched, so that the load goes on.
    await Promise.all([
      dieInTurn(trial, occasions, trial.stage.apis, by.get('api') ?? [], pass),
      dieInTurn(trial, occasions, trial.stage.workers, by.get('worker') ?? [], pass),
      inTurn(by.get('command') ?? [], (name) => pass(name, () => dieInCommand(trial, payouts, name))),
    ]);
    // These take the database down, which would fail the others' commands.
    await inTurn(by.get('uncertain api') ?? [], (name) =>
      pass(name, () => dieUncertain(cluster, trial, name)),
    );
    await trial.drain();
    await restPayouts(trial.stage, trial.load.rails);
    await restWebhooks(trial.stage);
    const forgotten = await forgottenLines(trial.stage);
    if (forgotten !== null) outcome.fail(`a server said: ${forgotten}`);
    const { whole, text } = await trial.judge('drained');
    say(text);
    if (whole) outcome.pass();
    else outcome.fail(`the checker found violations (seed ${seed}); journals: ${trial.keepJournals()}`);
  } finally {
    await trial.end();
  }
  const { payins, payouts, sent } = trial.load.counts;
  say(
    `failpoints: ${payins} payins and ${payouts} payouts by ${sent} requests, ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  return outcome.done();
}

function trackOf(name: string): 'api' | 'worker' | 'uncertain api' | 'command' | 'nobody' {
  const passer = passerOf(name);
  if (passer === null) return 'nobody';
  return passer === 'api' || passer === 'worker' || passer === 'uncertain api' ? passer : 'command';
}

async function inTurn(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (const name of names) await work(name);
}

type Occasions = Readonly<Record<Occasion, (api: string) => Promise<unknown>>>;

function occasionsOf(trial: Trial, payouts: FailpointPayouts, webhooks: FailpointWebhooks): Occasions {
  const { stage } = trial;
  const links = new FailpointLinks(trial);
  return {
    expiry: () => stage.shiftTime(3_660_000),
    'bank page': () => refuseOpening(trial, { rail: 'PSE', operation: 'create' }),
    'key registration': () => refuseOpening(trial, { rail: 'BRE_B', operation: 'register' }),
    cancellation: (api) => payouts.cancelOne(api),
    lookup: (api) => payouts.lookUp(api),
    'old promise': () => payouts.letPromisesGrowOld(),
    question: () => payouts.loseAnswers(),
    delivery: () => webhooks.deliver(),
    endpoint: (api) => webhooks.addOne(api),
    replay: (api) => webhooks.replayOne(api),
    link: (api) => links.createOne(api),
    attempt: (api) => links.beginOne(api),
    payer: (api) => links.giveDetails(api),
    'change of method': (api) => links.changeOne(api),
    closing: (api) => links.closeOne(api),
    'link expiry': () => links.letExpire(),
    // A worker credits what an API process recorded: it has no address of its own.
    acceptance: (url) => acceptOne(trial, url === '' ? (stage.apis[0]?.url ?? '') : url),
  };
}

/** The process that creates a payin does not reach its rail, so a worker goes on with it. */
async function refuseOpening(
  { load, stage }: Trial,
  target: Pick<FaultOrder, 'rail' | 'operation'>,
): Promise<void> {
  await load.rails.addFault({ ...target, fault: 'down', times: 3 });
  await sleep(1000);
  await stage.shiftTime(5000);
}

/** Dead of one failpoint it comes back armed with the next, and works as any other until it gets there. */
async function dieInTurn(
  { random: chance }: Trial,
  bringAbout: Occasions,
  members: readonly Member[],
  names: readonly string[],
  pass: (name: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const random = chance.branch();
  const member = members[random.whole(0, members.length - 1)];
  if (!member) throw new Error('there is no process of its role');
  await inTurn(names, (name) =>
    pass(name, async () => {
      await arm(member, `${name}#${random.whole(1, passings(name))}`);
      const occasion = occasionOf(name);
      await goneInTime(member, occasion && (() => bringAbout[occasion](member.url)));
    }),
  );
  await member.restart();
}

/** It may die before it has said that it is ready: then it has died of it all the same. */
async function arm(member: Member, failpoint: string): Promise<void> {
  try {
    await member.restart({ CAUDAL_FAILPOINT: failpoint });
  } catch (error) {
    if (!String(error).includes('ended with null before it was ready')) throw error;
  }
}

/** @param hurry brings about, now and then, what the failpoint waits for */
async function goneInTime(member: Member, hurry: (() => Promise<unknown>) | null): Promise<void> {
  const deadline = performance.now() + DIES_WITHIN_MS;
  while (member.alive && performance.now() < deadline) {
    await hurry?.();
    await Promise.race([member.gone(), sleep(3000, undefined, { ref: false })]);
  }
  if (member.alive) throw new Error(`not reached within ${DIES_WITHIN_MS / 1000} s`);
}

/** Given to a process that dies of it, then once more: done once, whichever side of the commit it died on. */
async function dieInCommand(trial: Trial, payouts: FailpointPayouts, name: string): Promise<void> {
  const command = await errand(trial, payouts, passerOf(name));
  await trial.operator.dieOf(name, command);
  await trial.operator.give(command);
  if (passerOf(name) === 'resolve payout') await payouts.rejectUndecided();
  if (passerOf(name) === 'pause') await trial.operator.give({ args: ['rails', 'resume', ...PAUSED] });
}

/** All organizations at once: what merchants are told meanwhile is to try again. */
const PAUSED = ['--rail', 'PSE'];

async function errand(
  trial: Trial,
  payouts: FailpointPayouts,
  passer: Passer | null,
): Promise<Parameters<Trial['operator']['give']>[0]> {
  const { operator } = trial;
  switch (passer) {
    case 'deposit':
      return operator.deposit();
    case 'reversal':
      return operator.reverse();
    case 'resolve':
      return firstAnomaly(trial);
    case 'resolve payout':
      return declining(await payouts.undecided());
    case 'settlement':
    case 'subtotals':
    case 'bank-list':
      return operator.schedule(passer);
    case 'pause':
      return { args: ['rails', 'pause', ...PAUSED, '--reason', 'chaos', '--by', 'chaos'] };
    case 'organization':
      return { args: ['org', 'create', '--name', 'Otra', '--support', 'ayuda@otra.example'] };
    case 'rewrap':
      return { args: ['secrets', 'rewrap'] };
    default:
      throw new Error('no command passes it');
  }
}

/** By an operator's word, for want of the rail's. */
function declining(payoutId: string): Parameters<Trial['operator']['give']>[0] {
  const args = ['payouts', 'resolve', payoutId, '--decline', '--anyway', '--by', 'chaos', '--note', 'chaos'];
  return { args, doneBefore: /ended before/ };
}

/** Somebody has paid twice before long. */
async function firstAnomaly({ operator }: Trial): Promise<Parameters<Trial['operator']['give']>[0]> {
  const deadline = performance.now() + DIES_WITHIN_MS;
  for (;;) {
    const command = await operator.resolve();
    if (command) return command;
    if (performance.now() > deadline) throw new Error('no anomaly holds money');
    await sleep(200);
  }
}

/**
 * A commit whose outcome is not known: every commit is made to take a tenth of a second, and the database dies in the
 * middle of some.
 */
async function dieUncertain(cluster: Cluster, { stage, random }: Trial, name: string): Promise<void> {
  const slowly = async (delayUs: number) => {
    await stage.query(`alter system set commit_siblings = 0`);
    await stage.query(`alter system set commit_delay = ${delayUs}`);
    await stage.query('select pg_reload_conf()');
  };
  const member = stage.apis[random.whole(0, stage.apis.length - 1)];
  if (!member) throw new Error('there is no API');
  try {
    await slowly(100_000);
    await arm(member, name);
    for (let crashes = 0; member.alive && crashes < 8; crashes += 1) {
      await sleep(300);
      await cluster.crash();
      await Promise.race([member.gone(), sleep(3000)]);
    }
    if (member.alive) throw new Error('not reached in 8 crashes of the database');
  } finally {
    await slowly(0);
    await member.restart();
  }
}
