import type { SystemDeps } from '../deps.ts';
import {
  type OperatorWord,
  type PayoutRefusal,
  payoutStory,
  resolvePayout,
  unknownPayouts,
} from '../flows/resolve-payout.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { ERROR_CODES } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MOST_LISTED = 1000;

export async function payoutsUnknown(deps: SystemDeps): Promise<Output> {
  const unknown = await unknownPayouts(deps, MOST_LISTED);
  const lines = unknown.map(
    (payout) =>
      `${payout.id}  sent ${payout.first_sent_at.toISOString()}  COP ${decimalPesos(payout.amount_in_cents)}  ${payout.attempts} sent, ${payout.questions} asked  last answer: ${payout.answer ?? 'none'}  end-to-end ${payout.end_to_end_id}`,
  );
  return {
    json: unknown.map(({ organization_id, amount_in_cents, end_to_end_id, first_sent_at, ...rest }) => ({
      id: rest.id,
      organizationId: organization_id,
      amountInCents: Number(amount_in_cents),
      reference: rest.reference,
      endToEndId: end_to_end_id,
      attempts: rest.attempts,
      questions: rest.questions,
      firstSentAt: first_sent_at,
      lastSentAt: rest.last_sent_at,
      nextQuestionAt: rest.rail_due_at,
      lastAnswer: rest.answer,
    })),
    text:
      lines.join('\n') +
        (unknown.length === MOST_LISTED ? `\n(and perhaps more: ${MOST_LISTED} are shown)` : '') ||
      'Every payout that was sent more than a minute ago has its outcome.',
  };
}

export async function payoutsShow(deps: SystemDeps, options: Options): Promise<Output> {
  const id = idOf(options, 'payouts show');
  const story = await payoutStory(deps, id);
  if (!story) throw new Error('there is no such payout');
  const { payout, attempts } = story;
  const sends = attempts.map(
    ({ number, at, answer, answered_at, error_code, reason }) =>
      `  ${number}. committed ${at.toISOString()}, answered ${answered_at?.toISOString() ?? 'never'}: ${[answer ?? 'nothing was written down', error_code, reason].filter(Boolean).join(', ')}`,
  );
  return {
    json: {
      id,
      organizationId: payout.organization_id,
      status: payout.status,
      errorCode: payout.error_code,
      amountInCents: Number(payout.amount_in_cents),
      reference: payout.reference,
      endToEndId: payout.end_to_end_id,
      executionId: payout.execution_id,
      createdAt: payout.created_at,
      resultAt: payout.result_at,
      attempts: attempts.map(({ answered_at, error_code, ...rest }) => ({
        ...rest,
        answeredAt: answered_at,
        errorCode: error_code,
      })),
    },
    text: [
      `${payout.status}${payout.error_code === null ? '' : ` (${payout.error_code})`}  COP ${decimalPesos(payout.amount_in_cents)}  ${payout.reference}`,
      `organization ${payout.organization_id}, created ${payout.created_at.toISOString()}, ended ${payout.result_at?.toISOString() ?? 'not yet'}`,
      `end-to-end ${payout.end_to_end_id}, execution ${payout.execution_id ?? 'none known'}`,
      sends.length === 0 ? 'never sent' : 'sent:',
      ...sends,
    ].join('\n'),
  };
}

export async function payoutsResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const id = idOf(options, 'payouts resolve');
  const by = { operator: options.required('by'), note: noteOf(options) };
  const outcome = await resolvePayout(deps, id, wordOf(options), by);
  switch (outcome.kind) {
    case 'resolved':
      return {
        json: { id, status: outcome.status, decidedBy: 'operator' },
        text: `Payout ${id} is ${outcome.status} by your word; the audit has it.`,
      };
    case 'the rail has decided':
      return {
        json: { id, status: outcome.status, decidedBy: 'rail' },
        text: `The rail, asked once more, had a clear answer: payout ${id} is ${outcome.status}. Your word was not needed.`,
      };
    default:
      throw new Error(refusal(outcome));
  }
}

function wordOf(options: Options): OperatorWord {
  if (options.given('confirm') === options.given('decline'))
    throw new UsageError('say either --confirm or --decline');
  if (options.given('confirm')) return { kind: 'confirm' };
  const errorCode = options.matching('error-code', /^[A-Z_]+$/, 'an errorCode', 'RAIL_REJECTED');
  const known = ERROR_CODES.find((each) => each === errorCode);
  if (!known) throw new UsageError(`--error-code: "${errorCode}" is none of ${ERROR_CODES.join(', ')}`);
  return { kind: 'decline', errorCode: known, anyway: options.given('anyway') };
}

/** Money is decided by a person's word here: why is part of it. */
function noteOf(options: Options): string {
  options.required('note');
  return options.matching('note', /^.{1,500}$/, 'a note of at most 500 letters', '');
}

function idOf(options: Options, command: string): string {
  const [id] = options.words;
  if (id === undefined || !isUuid(id)) throw new UsageError(`${command} needs the id of a payout`);
  return id;
}

function refusal(outcome: PayoutRefusal): string {
  switch (outcome.kind) {
    case 'no such payout':
      return 'there is no such payout';
    case 'never sent':
      return 'it was never sent: its merchant can cancel it, and nothing about it is unknown';
    case 'too early':
      return 'it was sent less than a minute ago and may still arrive: look again in a minute';
    case 'the rail is at it':
      return 'the rail says that it has the order and is still at it: declined now, the money may leave all the same. If its operators have told you in writing that it never will, add --anyway';
    case 'settled otherwise':
      return 'the rail has executed it, over another amount than ours (anomalies list shows it): it cannot be declined; --confirm ends it, and the difference is to be settled with the rail';
    case 'ended before':
      return `it has ended before: ${outcome.status}`;
  }
}
