import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context, Option } from '../command.ts';
import { connectionOf } from '../connection.ts';
import { Fault, UsageError } from '../errors.ts';
import { isFinal } from '../outcome.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
import { findByRailReference } from '../rail-reference.ts';
import { AMOUNT_OPTIONS, readAmount } from '../request-body.ts';
import {
  contradictAtBank,
  decideAtBank,
  findSimulated,
  payKey,
  type SimulatedPayment,
  seenAfter,
  untilRegistered,
} from '../simulated-payment.ts';
import { SIMULATOR_OPTION, type Simulator, simulatorOf } from '../simulator.ts';
import { refuseLive } from '../trigger-event.ts';
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
    run: (context, args) => end(context, args, 'decline'),
  },
  {
    name: 'simulate cancel',
    section: 'testing',
    summary: 'the payer cancels',
    options: [SIMULATOR_OPTION],
    words: PAYIN_WORD,
    examples: [newPayin('order-3004'), 'caudal simulate cancel order-3004'],
    run: (context, args) => end(context, args, 'cancel'),
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
    run: (context, args) => endPayout(context, args, 'SETTLED'),
  },
  {
    name: 'simulate reject',
    section: 'testing',
    summary: 'the network refuses a payout that it left open (@TESTTIMEOUT)',
    options: [CODE, SIMULATOR_OPTION],
    words: PAYOUT_WORD,
    examples: [openPayout('salary-3002'), 'caudal simulate reject salary-3002'],
    run: (context, args) => endPayout(context, args, 'REJECTED'),
  },
];

interface Scene {
  readonly simulator: Simulator;
  readonly simulated: SimulatedPayment;
  readonly client: () => Caudal;
}

async function sceneOf(context: Context, args: ParsedArgs): Promise<Scene> {
  const client = () => {
    refuseLive(connectionOf(context.environment, args));
    return apiOf(context, args);
  };
  const simulator = simulatorOf(context.environment, args, context.signal);
  return { simulator, client, simulated: await findSimulated(client, args.word(0)) };
}

function stillOpen({ payin }: SimulatedPayment): void {
  if (payin && isFinal(payin.status))
    throw new Fault(`the payin is ${payin.status} already`, [
      'Money that arrives all the same: caudal simulate late',
    ]);
}

async function pay(context: Context, args: ParsedArgs): Promise<undefined> {
  const { simulator, simulated, client } = await sceneOf(context, args);
  const amountInCents = readAmount(args);
  stillOpen(simulated);
  if (simulated.rail === 'PSE') {
    if (amountInCents !== undefined && amountInCents !== simulated.payin.amountInCents)
      throw new UsageError('on PSE a payer pays the amount asked for, or nothing');
    await decideAtBank(simulated.bankPage, { decision: 'approve' });
  } else {
    await payKey(simulator, { key: simulated.key, amountInCents, anyway: false });
  }
  const paid = amountInCents ?? simulated.payin?.amountInCents;
  await tell(
    context,
    simulated,
    client,
    `The payer paid${paid === undefined ? '' : ` COP ${showCents(paid)}`}.`,
  );
  return undefined;
}

async function end(context: Context, args: ParsedArgs, how: 'decline' | 'cancel'): Promise<undefined> {
  const { simulator, simulated, client } = await sceneOf(context, args);
  stillOpen(simulated);
  await endSimulated(simulator, simulated, how, args.text('code'));
  await tell(context, simulated, client, how === 'decline' ? 'The bank refused.' : 'The payer canceled.');
  return undefined;
}

async function endSimulated(
  simulator: Simulator,
  simulated: SimulatedPayment,
  how: 'decline' | 'cancel',
  code?: string,
): Promise<void> {
  if (simulated.rail === 'PSE') {
    await decideAtBank(simulated.bankPage, {
      decision: how === 'decline' ? 'reject' : 'cancel',
      reason: code,
    });
    return;
  }
  await untilRegistered(simulator, simulated.key);
  const outcome = how === 'decline' ? 'REJECTED' : 'CANCELED';
  await simulator.post('/keys/end', { key: simulated.key, outcome, ...(code === undefined ? {} : { code }) });
}

async function late(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const { simulator, simulated, client } = await sceneOf(context, args);
  const amountInCents = readAmount(args);
  if (simulated.payin && !isFinal(simulated.payin.status)) {
    await endSimulated(simulator, simulated, 'cancel');
    const ended = await seenAfter(client(), simulated.payin);
    screen.note(`The payer canceled; the payin is ${ended.status}.`);
  }
  if (simulated.rail === 'PSE') await contradictAtBank(simulator, simulated.payin);
  else await payKey(simulator, { key: simulated.key, amountInCents, anyway: true });
  await tell(context, simulated, client, 'Then the money came after all.', hasAnomaly);
  return undefined;
}

async function twice(context: Context, args: ParsedArgs): Promise<undefined> {
  const { simulator, simulated, client } = await sceneOf(context, args);
  if (simulated.rail === 'PSE')
    throw new UsageError('on PSE nobody can pay twice: the bank page takes one decision');
  stillOpen(simulated);
  await payKey(simulator, { key: simulated.key, anyway: false });
  await payKey(simulator, { key: simulated.key, anyway: true });
  await tell(context, simulated, client, 'The payer paid, and paid again.', hasAnomaly);
  return undefined;
}

const hasAnomaly = ({ anomalies }: Payin): boolean => anomalies.length > 0;

/** What was played, and what the server made of it. */
async function tell(
  { screen }: Context,
  simulated: SimulatedPayment,
  client: () => Caudal,
  done: string,
  isDone?: (payin: Payin) => boolean,
): Promise<void> {
  if (simulated.payin === null) {
    screen.answer({ done, key: simulated.rail === 'BRE_B' ? simulated.key : null, payin: null }, () => done);
    return;
  }
  const payin = await seenAfter(client(), simulated.payin, isDone);
  screen.answer({ done, payin }, () => `${done}\n${payinText(screen, payin)}`);
  if (!isFinal(payin.status))
    screen.note('The server has not heard of it yet: caudal payins get shows it later.');
}

async function endPayout(
  context: Context,
  args: ParsedArgs,
  outcome: 'SETTLED' | 'REJECTED',
): Promise<undefined> {
  const { screen, environment, signal } = context;
  refuseLive(connectionOf(environment, args));
  const caudal = apiOf(context, args);
  const simulator = simulatorOf(environment, args, signal);
  const id = await payoutIdOf(caudal, args.word(0));
  const order = await findByRailReference(id, (reference) =>
    simulator.find<{ endToEndId: string }>(`/orders/${reference}`),
  );
  if (!order)
    throw new Fault('the network has no such order', ['It may not have left yet: caudal payouts get']);
  const code = args.text('code');
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
