import type { OptionDescription } from '@caudal/command-tree';
import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import { resolveConnection } from '../connection/connection.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { formatCents } from '../requests/pesos.ts';
import { AMOUNT_OPTIONS, readAmount } from '../requests/request-body.ts';
import { isFinal } from '../requests/wait-for-final-status.ts';
import { findByRailReference } from '../simulate/rail-reference.ts';
import {
  contradictAtBank,
  decideAtBank,
  findSimulated,
  findTransaction,
  payKey,
  type SimulatedPayment,
  waitForPayin,
  waitForRegistration,
} from '../simulate/simulated-payment.ts';
import { resolveSimulator, SIMULATOR_OPTION, type Simulator } from '../simulate/simulator.ts';
import { rejectLiveKey } from '../simulate/trigger-event.ts';
import { type Payin, payinText } from './payins.ts';
import { payoutText, resolvePayoutId } from './payouts.ts';

const PAYIN_ARG = [{ name: 'PAYIN', summary: 'id or reference of a payin, or its key (@…)' }];
const PAYOUT_ARG = [{ name: 'PAYOUT', summary: 'id or reference of a payout' }];
const CODE: OptionDescription = {
  name: 'code',
  value: 'CODE',
  summary:
    'reason: a network code (4010, 4016 …), or on PSE a reason (11 insufficient funds, 8 limit exceeded …)',
};

const newPayin = (reference: string) => `caudal payins create --amount 49800 --reference ${reference}`;
const PSE_PAYER =
  "--bank CO_NEQUI --name 'Ana Rojas' --id-number 1020304050 --phone +573001234567 --email ana@example.com";
const openPayout = (reference: string) =>
  `caudal payouts create --amount 1000 --key @TESTTIMEOUT --name 'Janeth Smith Prueba' --id-number 1000000099 --phone +573001234567 --email janeth@example.com --reference ${reference} --yes`;

export const SIMULATE_COMMANDS: readonly Command[] = [
  {
    name: 'simulate pay',
    section: 'testing',
    summary: 'simulate a payment',
    options: [...AMOUNT_OPTIONS, SIMULATOR_OPTION],
    args: PAYIN_ARG,
    details: 'On Bre-B, --amount simulates an underpayment or overpayment.',
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
    summary: "simulate a decline by the payer's bank",
    options: [CODE, SIMULATOR_OPTION],
    args: PAYIN_ARG,
    examples: [newPayin('order-3003'), 'caudal simulate decline order-3003'],
    run: (context, args) => end(context, args, 'decline'),
  },
  {
    name: 'simulate cancel',
    section: 'testing',
    summary: 'simulate a cancellation by the payer',
    options: [SIMULATOR_OPTION],
    args: PAYIN_ARG,
    examples: [newPayin('order-3004'), 'caudal simulate cancel order-3004'],
    run: (context, args) => end(context, args, 'cancel'),
  },
  {
    name: 'simulate late',
    section: 'testing',
    summary: 'simulate money for a payin that has ended (an open one is canceled first)',
    options: [...AMOUNT_OPTIONS, SIMULATOR_OPTION],
    args: PAYIN_ARG,
    details: 'The payin keeps its final status; the money becomes an anomaly for the operator to resolve.',
    examples: [newPayin('order-3005'), 'caudal simulate late order-3005'],
    run: late,
  },
  {
    name: 'simulate twice',
    section: 'testing',
    summary: 'simulate two payments of one payin (Bre-B)',
    options: [SIMULATOR_OPTION],
    args: PAYIN_ARG,
    examples: [newPayin('order-3006'), 'caudal simulate twice order-3006'],
    run: twice,
  },
  {
    name: 'simulate leave',
    section: 'testing',
    summary: 'simulate a payer who leaves the bank page without a decision (PSE)',
    options: [
      {
        name: 'then',
        value: 'WHAT',
        summary:
          'what happens next: the bank approves, or PSE ends the payment (default: nothing is decided)',
        choices: ['approve', 'abandon'],
      },
      SIMULATOR_OPTION,
    ],
    args: PAYIN_ARG,
    details: 'Without --then the payin stays PROCESSING until PSE ends it, 25 minutes later.',
    examples: [
      `${newPayin('order-3007')} ${PSE_PAYER}`,
      'caudal simulate leave order-3007',
      'caudal simulate leave order-3007 --then approve',
    ],
    run: leave,
  },
  {
    name: 'simulate settle',
    section: 'testing',
    summary: 'settle a payout that is in progress (@TESTTIMEOUT)',
    options: [SIMULATOR_OPTION],
    args: PAYOUT_ARG,
    examples: [openPayout('salary-3001'), 'caudal simulate settle salary-3001'],
    run: (context, args) => endPayout(context, args, 'SETTLED'),
  },
  {
    name: 'simulate reject',
    section: 'testing',
    summary: 'reject a payout that is in progress (@TESTTIMEOUT)',
    options: [CODE, SIMULATOR_OPTION],
    args: PAYOUT_ARG,
    examples: [openPayout('salary-3002'), 'caudal simulate reject salary-3002'],
    run: (context, args) => endPayout(context, args, 'REJECTED'),
  },
];

interface Simulation {
  readonly simulator: Simulator;
  readonly simulated: SimulatedPayment;
  readonly client: () => Caudal;
}

async function prepareSimulation(context: Context, args: ParsedArgs): Promise<Simulation> {
  const client = () => {
    rejectLiveKey(resolveConnection(context.environment, args));
    return createApiClient(context, args);
  };
  const simulator = resolveSimulator(context.environment, args, context.signal);
  return { simulator, client, simulated: await findSimulated(client, args.positional(0)) };
}

function requireOpen({ payin }: SimulatedPayment): void {
  if (payin && isFinal(payin.status))
    throw new CliError(`the payin is already ${payin.status}`, [
      'To simulate a late payment: caudal simulate late',
    ]);
}

async function pay(context: Context, args: ParsedArgs): Promise<undefined> {
  const { simulator, simulated, client } = await prepareSimulation(context, args);
  const amountInCents = readAmount(args);
  requireOpen(simulated);
  if (simulated.rail === 'PSE') {
    if (amountInCents !== undefined && amountInCents !== simulated.payin.amountInCents)
      throw new UsageError('a PSE payer always pays the exact amount: remove --amount');
    await decideAtBank(simulated.bankPage, { decision: 'approve' });
  } else {
    await payKey(simulator, { key: simulated.key, amountInCents, anyway: false });
  }
  const paid = amountInCents ?? simulated.payin?.amountInCents;
  await showResult(
    context,
    simulated,
    client,
    `The payer paid${paid === undefined ? '' : ` COP ${formatCents(paid)}`}.`,
  );
  return undefined;
}

async function end(context: Context, args: ParsedArgs, how: 'decline' | 'cancel'): Promise<undefined> {
  const { simulator, simulated, client } = await prepareSimulation(context, args);
  requireOpen(simulated);
  await endSimulated(simulator, simulated, how, args.text('code'));
  await showResult(
    context,
    simulated,
    client,
    how === 'decline' ? 'The bank declined.' : 'The payer canceled.',
  );
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
  await waitForRegistration(simulator, simulated.key);
  const outcome = how === 'decline' ? 'REJECTED' : 'CANCELED';
  await simulator.post('/keys/end', { key: simulated.key, outcome, ...(code === undefined ? {} : { code }) });
}

async function late(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const { simulator, simulated, client } = await prepareSimulation(context, args);
  const amountInCents = readAmount(args);
  if (simulated.payin && !isFinal(simulated.payin.status)) {
    await endSimulated(simulator, simulated, 'cancel');
    const ended = await waitForPayin(client(), simulated.payin);
    screen.note(`The payer canceled; the payin is ${ended.status}.`);
  }
  if (simulated.rail === 'PSE') await contradictAtBank(simulator, simulated.payin);
  else await payKey(simulator, { key: simulated.key, amountInCents, anyway: true });
  await showResult(context, simulated, client, 'Then the payment arrived.', hasAnomaly);
  return undefined;
}

async function twice(context: Context, args: ParsedArgs): Promise<undefined> {
  const { simulator, simulated, client } = await prepareSimulation(context, args);
  if (simulated.rail === 'PSE')
    throw new UsageError('PSE cannot be paid twice: the bank page accepts one decision');
  requireOpen(simulated);
  await payKey(simulator, { key: simulated.key, anyway: false });
  await payKey(simulator, { key: simulated.key, anyway: true });
  await showResult(context, simulated, client, 'The payer paid twice.', hasAnomaly);
  return undefined;
}

async function leave(context: Context, args: ParsedArgs): Promise<undefined> {
  const { simulator, simulated, client } = await prepareSimulation(context, args);
  if (simulated.rail !== 'PSE')
    throw new UsageError('only PSE has a bank page: a Bre-B payer who leaves simply does not pay');
  requireOpen(simulated);
  const then = args.text('then');
  const reference = await findTransaction(simulator, simulated.payin);
  await simulator.post('/transactions/leave', { reference });
  if (then === undefined) {
    const isUnchanged = () => true;
    await showResult(context, simulated, client, 'The payer left the bank page.', isUnchanged);
    return undefined;
  }
  if (then === 'approve') await simulator.post('/transactions/end', { reference, state: 'OK' });
  else await simulator.post('/transactions/abandon', { reference });
  const next = then === 'approve' ? 'the bank approved' : 'PSE ended the payment';
  await showResult(context, simulated, client, `The payer left the bank page, and ${next}.`);
  return undefined;
}

const hasAnomaly = ({ anomalies }: Payin): boolean => anomalies.length > 0;

/** Shows the simulated action and the resulting payin. */
async function showResult(
  { screen }: Context,
  simulated: SimulatedPayment,
  client: () => Caudal,
  done: string,
  isDone?: (payin: Payin) => boolean,
): Promise<void> {
  if (simulated.payin === null) {
    screen.result({ done, key: simulated.rail === 'BRE_B' ? simulated.key : null, payin: null }, () => done);
    return;
  }
  const payin = await waitForPayin(client(), simulated.payin, isDone);
  screen.result({ done, payin }, () => `${done}\n${payinText(screen, payin)}`);
  if (!isFinal(payin.status))
    screen.note('The server has not processed it yet. Check later: caudal payins get');
}

async function endPayout(
  context: Context,
  args: ParsedArgs,
  outcome: 'SETTLED' | 'REJECTED',
): Promise<undefined> {
  const { screen, environment, signal } = context;
  rejectLiveKey(resolveConnection(environment, args));
  const caudal = createApiClient(context, args);
  const simulator = resolveSimulator(environment, args, signal);
  const id = await resolvePayoutId(caudal, args.positional(0));
  const order = await findByRailReference(id, (reference) =>
    simulator.find<{ endToEndId: string }>(`/orders/${reference}`),
  );
  if (!order)
    throw new CliError('the network has no such order', [
      'It may not have been sent yet: caudal payouts get',
    ]);
  const code = args.text('code');
  await simulator.post('/orders/end', {
    endToEndId: order.endToEndId,
    outcome,
    ...(code === undefined ? {} : { code }),
  });
  const payout = await caudal.payouts.waitFor(id, { timeoutMs: 10_000, signal });
  const seen = { ...payout, anomalies: [] };
  screen.result({ done: outcome, payout }, () => payoutText(screen, seen));
  return undefined;
}
