import type { SystemDeps } from '../deps.ts';
import {
  type OperatorDecision,
  type PayoutRefusal,
  payoutStory,
  resolvePayout,
  unknownPayouts,
  type WaitingReason,
} from '../flows/payouts/resolve-payout.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { ERROR_CODES } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MOST_LISTED = 1000;

const REASONS: Readonly<Record<WaitingReason, string>> = {
  awaiting_operator:
    'AWAITING OPERATOR: the rail does not know the order; decide with payouts resolve --resend, --decline or --confirm',
  resend_scheduled: 'the order is about to be sent again',
  rail_in_progress: 'the rail is processing the order',
  rail_not_found: 'the rail does not know the order yet; it may still arrive',
  rail_contradicts: 'the rail reports an outcome that does not fit; see anomalies list',
  rail_unanswered: 'the rail does not answer; it is queried again',
};

export async function payoutsUnknown(deps: SystemDeps): Promise<Output> {
  const unknown = await unknownPayouts(deps, MOST_LISTED);
  const lines = unknown.map(
    (payout) =>
      `${payout.id}  sent ${payout.first_sent_at.toISOString()}  COP ${decimalPesos(payout.amount_in_cents)}  ${payout.attempts} sent, ${payout.questions} asked  last answer: ${payout.answer ?? 'none'}  end-to-end ${payout.end_to_end_id}  ${REASONS[payout.reason]}`,
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
      nextPollAt: rest.rail_due_at,
      lastAnswer: rest.answer,
      railStatus: rest.rail_status,
      reason: rest.reason,
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
      sends.length === 0 ? 'never_sent' : 'sent:',
      ...sends,
    ].join('\n'),
  };
}

export async function payoutsResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const id = idOf(options, 'payouts resolve');
  const by = { operator: options.by, note: noteOf(options) };
  const outcome = await resolvePayout(deps, id, wordOf(options), by);
  switch (outcome.kind) {
    case 'resolved':
      return {
        json: { id, status: outcome.status, decidedBy: 'operator' },
        text: `Payout ${id} is ${outcome.status} by your word; the audit has it.`,
      };
    case 'resend':
      return {
        json: { id, status: 'PROCESSING', decidedBy: 'operator', attempts: outcome.attempts },
        text: `Payout ${id} will be sent again under the same end-to-end id; the audit records it.`,
      };
    case 'decided_by_rail':
      return {
        json: { id, status: outcome.status, decidedBy: 'rail' },
        text: `The rail, asked once more, had a clear answer: payout ${id} is ${outcome.status}. Your word was not needed.`,
      };
    default:
      throw new Error(refusal(outcome));
  }
}

function wordOf(options: Options): OperatorDecision {
  const given = (['confirm', 'decline', 'resend'] as const).filter((each) => options.given(each));
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    throw new UsageError('give exactly one of --confirm, --decline and --resend');
  if (kind !== 'decline') return { kind };
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
    case 'not_found':
      return 'there is no such payout';
    case 'never_sent':
      return 'it was never sent: its merchant can cancel it, and nothing about it is unknown';
    case 'too_early':
      return 'it was sent so recently that it may still arrive: try again when the longest processing time of the rail (BREB_MAX_PROCESSING_MS) and twenty seconds have passed since it was sent';
    case 'in_progress_at_rail':
      return 'the rail says that it has the order and is still at it: declined now, the money may leave all the same. If its operators have told you in writing that it never will, add --anyway';
    case 'settled_elsewhere':
      return 'the rail has executed it, over another amount than ours (anomalies list shows it): it can be neither declined nor sent again; --confirm ends it, and the difference is to be settled with the rail';
    case 'execution_of_another_payout':
      return 'the rail reports it as settled by an execution that paid another payout (anomalies list shows it): it cannot be sent again. When the operators of the rail have confirmed that no money left for it, --decline ends it';
    case 'rail_in_progress':
      return 'the rail reports the order as in progress: sent again it could be executed twice. Wait for its outcome';
    case 'rail_unanswered':
      return 'the rail did not answer the query: an order is sent again only when the rail answers that it does not know it. Try again later';
    case 'resend_scheduled':
      return 'it is already scheduled to be sent again';
    case 'already_final':
      return `it has ended before: ${outcome.status}`;
  }
}
