import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context, Option } from '../command.ts';
import { connectionOf } from '../connection.ts';
import { Fault, UsageFault } from '../faults.ts';
import type { Given } from '../given.ts';
import { refuseLive } from '../make-happen.ts';
import { isFinal } from '../outcome.ts';
import { showCents } from '../pesos.ts';
import {
  contradictAtBank,
  decideAtBank,
  findPlayed,
  type Played,
  payKey,
  seenAfter,
  untilRegistered,
} from '../played-payment.ts';
import { findByRailReference } from '../rail-reference.ts';
import { AMOUNT_OPTIONS, readAmount } from '../request-body.ts';
import { SIMULATOR_OPTION, type Simulator, simulatorOf } from '../simulator.ts';
import { type Payin, payinText } from './payins.ts';
import { payoutIdOf, payoutText } from './payouts.ts';

const PAYIN_WORD = [{ name: 'PAYIN', summary: 'id or reference of a payin, or its key (@…)' }];
const PAYOUT_WORD = [{ name: 'PAYOUT', summary: 'id or reference of a payout' }];
const CODE: Option = {
  name: 'code',
  value: 'CODE',
  summary: 'why: a code of the network (4010, 4016 …), or on PSE a reason (11 no funds, 8 over the limit …)',
};

const newPayin = (reference: string) => `caudal payins create --amount 49800 --reference ${reference}`;
const openPayout = (reference: string) =>
  `caudal payouts create --amount 1000 --key @TESTTIMEOUT --name 'Janeth Smith Prueba' --id-number 1000000099 --phone +573001234567 --email janeth@example.com --reference ${reference} --yes`;

export const SIMULATE_COMMANDS: readonly Command[] = [
  {
    name: 'simulate pay',
    section: 'testing',
    summary: 'the payer pays',
    options: [...AMOUNT_OPTIONS, SIMULATOR_OPTION],
    words: PAYIN_WORD,
    details: 'With another amount than asked for, a payer on Bre-B pays too little or too much.',
    examples: [
      newPayin('order-3001'),
      'caudal simulate pay order-3001',
      newPayin('order-3002'),
      'caudal simulate pay order-3002 --amount 20000',
    ],
    run: pay,
  },
  {
    name: 'simulate decline',
    section: 'testing',
    summary: "the payer's bank refuses",
    options: [CODE, SIMULATOR_OPTION],
    words: PAYIN_WORD,
    examples: [newPayin('order-3003'), 'caudal simulate decline order-3003'],
    run: (context, given) => end(context, given, 'decline'),
  },
  {
    name: 'simulate cancel',
    section: 'testing',
    summary: 'the payer cancels',
    options: [SIMULATOR_OPTION],
    words: PAYIN_WORD,
    examples: [newPayin('order-3004'), 'caudal simulate cancel order-3004'],
    run: (context, given) => end(context, given, 'cancel'),
  },
  {
    name: 'simulate late',
    section: 'testing',
    summary: 'money arrives for a payin that has ended (one still open is canceled first)',
    options: [...AMOUNT_OPTIONS, SIMULATOR_OPTION],
    words: PAYIN_WORD,
    details: 'The payin stays as it ended; the money becomes an anomaly, and waits for the operator.',
    examples: [newPayin('order-3005'), 'caudal simulate late order-3005'],
    run: late,
  },
  {
    name: 'simulate twice',
    section: 'testing',
    summary: 'the payer pays, and pays again (Bre-B)',
    options: [SIMULATOR_OPTION],
    words: PAYIN_WORD,
    examples: [newPayin('order-3006'), 'caudal simulate twice order-3006'],
    run: twice,
  },
  {
    name: 'simulate settle',
    section: 'testing',
    summary: 'the network pays a payout that it left open (@TESTTIMEOUT)',
    options: [SIMULATOR_OPTION],
    words: PAYOUT_WORD,
    examples: [openPayout('salary-3001'), 'caudal simulate settle salary-3001'],
    run: (context, given) => endPayout(context, given, 'SETTLED'),
  },
  {
    name: 'simulate reject',
    section: 'testing',
    summary: 'the network refuses a payout that it left open (@TESTTIMEOUT)',
    options: [CODE, SIMULATOR_OPTION],
    words: PAYOUT_WORD,
    examples: [openPayout('salary-3002'), 'caudal simulate reject salary-3002'],
    run: (context, given) => endPayout(context, given, 'REJECTED'),
  },
];

interface Scene {
  readonly simulator: Simulator;
  readonly played: Played;
  readonly client: () => Caudal;
}

async function sceneOf(context: Context, given: Given): Promise<Scene> {
  const client = () => {
    refuseLive(connectionOf(context.environment, given));
    return apiOf(context, given);
  };
  const simulator = simulatorOf(context.environment, given, context.signal);
  return { simulator, client, played: await findPlayed(client, given.word(0)) };
}

function stillOpen({ payin }: Played): void {
  if (payin && isFinal(payin.status))
    throw new Fault(`the payin is ${payin.status} already`, [
      'Money that arrives all the same: caudal simulate late',
    ]);
}

async function pay(context: Context, given: Given): Promise<undefined> {
  const { simulator, played, client } = await sceneOf(context, given);
  const amountInCents = readAmount(given);
  stillOpen(played);
  if (played.rail === 'PSE') {
    if (amountInCents !== undefined && amountInCents !== played.payin.amountInCents)
      throw new UsageFault('on PSE a payer pays the amount asked for, or nothing');
    await decideAtBank(played.bankPage, { decision: 'approve' });
  } else {
    await payKey(simulator, { key: played.key, amountInCents, anyway: false });
  }
  const paid = amountInCents ?? played.payin?.amountInCents;
  await tell(
    context,
    played,
    client,
    `The payer paid${paid === undefined ? '' : ` COP ${showCents(paid)}`}.`,
  );
  return undefined;
}

async function end(context: Context, given: Given, how: 'decline' | 'cancel'): Promise<undefined> {
  const { simulator, played, client } = await sceneOf(context, given);
  stillOpen(played);
  await endPlayed(simulator, played, how, given.text('code'));
  await tell(context, played, client, how === 'decline' ? 'The bank refused.' : 'The payer canceled.');
  return undefined;
}

async function endPlayed(
  simulator: Simulator,
  played: Played,
  how: 'decline' | 'cancel',
  code?: string,
): Promise<void> {
  if (played.rail === 'PSE') {
    await decideAtBank(played.bankPage, { decision: how === 'decline' ? 'reject' : 'cancel', reason: code });
    return;
  }
  await untilRegistered(simulator, played.key);
  const outcome = how === 'decline' ? 'REJECTED' : 'CANCELED';
  await simulator.post('/keys/end', { key: played.key, outcome, ...(code === undefined ? {} : { code }) });
}

async function late(context: Context, given: Given): Promise<undefined> {
  const { screen } = context;
  const { simulator, played, client } = await sceneOf(context, given);
  const amountInCents = readAmount(given);
  if (played.payin && !isFinal(played.payin.status)) {
    await endPlayed(simulator, played, 'cancel');
    const ended = await seenAfter(client(), played.payin);
    screen.note(`The payer canceled; the payin is ${ended.status}.`);
  }
  if (played.rail === 'PSE') await contradictAtBank(simulator, played.payin);
  else await payKey(simulator, { key: played.key, amountInCents, anyway: true });
  await tell(context, played, client, 'Then the money came after all.', hasAnomaly);
  return undefined;
}

async function twice(context: Context, given: Given): Promise<undefined> {
  const { simulator, played, client } = await sceneOf(context, given);
  if (played.rail === 'PSE')
    throw new UsageFault('on PSE nobody can pay twice: the bank page takes one decision');
  stillOpen(played);
  await payKey(simulator, { key: played.key, anyway: false });
  await payKey(simulator, { key: played.key, anyway: true });
  await tell(context, played, client, 'The payer paid, and paid again.', hasAnomaly);
  return undefined;
}

const hasAnomaly = ({ anomalies }: Payin): boolean => anomalies.length > 0;

/** What was played, and what the server made of it. */
async function tell(
  { screen }: Context,
  played: Played,
  client: () => Caudal,
  done: string,
  isDone?: (payin: Payin) => boolean,
): Promise<void> {
  if (played.payin === null) {
    screen.answer({ done, key: played.rail === 'BRE_B' ? played.key : null, payin: null }, () => done);
    return;
  }
  const payin = await seenAfter(client(), played.payin, isDone);
  screen.answer({ done, payin }, () => `${done}\n${payinText(screen, payin)}`);
  if (!isFinal(payin.status))
    screen.note('The server has not heard of it yet: caudal payins get shows it later.');
}

async function endPayout(
  context: Context,
  given: Given,
  outcome: 'SETTLED' | 'REJECTED',
): Promise<undefined> {
  const { screen, environment, signal } = context;
  refuseLive(connectionOf(environment, given));
  const caudal = apiOf(context, given);
  const simulator = simulatorOf(environment, given, signal);
  const id = await payoutIdOf(caudal, given.word(0));
  const order = await findByRailReference(id, (reference) =>
    simulator.find<{ endToEndId: string }>(`/orders/${reference}`),
  );
  if (!order)
    throw new Fault('the network has no such order', ['It may not have left yet: caudal payouts get']);
  const code = given.text('code');
  await simulator.post('/orders/end', {
    endToEndId: order.endToEndId,
    outcome,
    ...(code === undefined ? {} : { code }),
  });
  const payout = await caudal.payouts.waitFor(id, { timeoutMs: 10_000, signal });
  const seen = { ...payout, anomalies: [] };
  screen.answer({ done: outcome, payout }, () => payoutText(screen, seen));
  return undefined;
}
