import type { SystemDeps } from '../deps.ts';
import {
  type OperatorDecision,
  type PayoutRejection,
  type PayoutWithAttempts,
  readPayoutWithAttempts,
  resolvePayout,
  unknownPayouts,
  type WaitingReason,
} from '../flows/payouts/resolve-payout.system.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { ERROR_CODES } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MAX_LISTED = 1000;

const REASONS: Readonly<Record<WaitingReason, string>> = {
  awaiting_operator:
    'AWAITING OPERATOR: the rail does not know the order; decide with payouts resolve --resend, --decline or --confirm',
  resend_scheduled: 'the order is scheduled to be sent again',
  rail_in_progress: 'the rail is processing the order',
  rail_not_found: 'the rail does not know the order yet; it may still arrive',
  rail_contradicts: 'the rail reports an outcome that does not match the payout; see anomalies list',
  rail_unanswered: 'the rail does not answer; workers keep polling',
};

export async function payoutsUnknown(deps: SystemDeps): Promise<Output> {
  const unknown = await unknownPayouts(deps, MAX_LISTED);
  const lines = unknown.map(
    (payout) =>
      `${payout.id}  sent ${payout.first_sent_at.toISOString()}  COP ${decimalPesos(payout.amount_in_cents)}  attempts: ${payout.attempts}, polls: ${payout.polls}  last answer: ${payout.answer ?? 'none'}  end-to-end ${payout.end_to_end_id}  ${REASONS[payout.reason]}`,
  );
  return {
    json: unknown.map(({ organization_id, amount_in_cents, end_to_end_id, first_sent_at, ...rest }) => ({
      id: rest.id,
      organizationId: organization_id,
      amountInCents: Number(amount_in_cents),
      reference: rest.reference,
      endToEndId: end_to_end_id,
      attempts: rest.attempts,
      polls: rest.polls,
      firstSentAt: first_sent_at,
      lastSentAt: rest.last_sent_at,
      nextPollAt: rest.rail_due_at,
      lastAnswer: rest.answer,
      railStatus: rest.rail_status,
      reason: rest.reason,
    })),
    text:
      lines.join('\n') +
        (unknown.length === MAX_LISTED ? `\n(there may be more; ${MAX_LISTED} are shown)` : '') ||
      'Every payout sent more than a minute ago has an outcome.',
  };
}

export async function payoutsShow(deps: SystemDeps, options: Options): Promise<Output> {
  const id = readId(options, 'payouts show');
  const found = await readPayoutWithAttempts(deps, id);
  if (!found) throw new Error('there is no such payout');
  const { payout, attempts } = found;
  const sends = attempts.map(
    ({ number, at, answer, answered_at, error_code, reason }) =>
      `  ${number}. committed ${at.toISOString()}, answered ${answered_at?.toISOString() ?? 'never'}: ${[answer ?? 'no answer recorded', error_code, reason].filter(Boolean).join(', ')}`,
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
      heldUntil: payout.held_until,
      attempts: attempts.map(({ answered_at, error_code, ...rest }) => ({
        ...rest,
        answeredAt: answered_at,
        errorCode: error_code,
      })),
    },
    text: [
      `${payout.status}${payout.error_code === null ? '' : ` (${payout.error_code})`}  COP ${decimalPesos(payout.amount_in_cents)}  ${payout.reference}`,
      `organization ${payout.organization_id}, created ${payout.created_at.toISOString()}, ended ${payout.result_at?.toISOString() ?? 'not yet'}`,
      `end-to-end ${payout.end_to_end_id}, execution ${payout.execution_id ?? 'unknown'}`,
      sends.length === 0 ? unsentText(payout) : 'attempts:',
      ...sends,
    ].join('\n'),
  };
}

function unsentText({ status, held, held_until }: PayoutWithAttempts['payout']): string {
  return status === 'PROCESSING' && held
    ? `not sent: first payout to a new receiver, held until ${held_until?.toISOString()} (see org payout-limits)`
    : 'never sent';
}

export async function payoutsResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const id = readId(options, 'payouts resolve');
  const by = { operator: options.by, note: readNote(options) };
  const outcome = await resolvePayout(deps, id, readDecision(options), by);
  switch (outcome.kind) {
    case 'resolved':
      return {
        json: { id, status: outcome.status, decidedBy: 'operator' },
        text: `Payout ${id} is ${outcome.status} by your decision, recorded in the audit log.`,
      };
    case 'resend':
      return {
        json: { id, status: 'PROCESSING', decidedBy: 'operator', attempts: outcome.attempts },
        text: `Payout ${id} will be sent again under the same end-to-end id, recorded in the audit log.`,
      };
    case 'decided_by_rail':
      return {
        json: { id, status: outcome.status, decidedBy: 'rail' },
        text: `The rail reported a definite outcome, which overrides your decision: payout ${id} is ${outcome.status}.`,
      };
    default:
      throw new Error(rejectionText(outcome));
  }
}

function readDecision(options: Options): OperatorDecision {
  const kinds = (['confirm', 'decline', 'resend'] as const).filter((each) => options.hasFlag(each));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new UsageError('give exactly one of --confirm, --decline and --resend');
  if (kind !== 'decline') return { kind };
  const errorCode = options.matching('error-code', /^[A-Z_]+$/, 'an errorCode', 'RAIL_REJECTED');
  const known = ERROR_CODES.find((each) => each === errorCode);
  if (!known) throw new UsageError(`--error-code: "${errorCode}" is not one of ${ERROR_CODES.join(', ')}`);
  return { kind: 'decline', errorCode: known, anyway: options.hasFlag('anyway') };
}

/** The note is required: an operator decides about money and must give the evidence. */
function readNote(options: Options): string {
  options.required('note');
  return options.matching('note', /^.{1,500}$/, 'a note of at most 500 characters', '');
}

function readId(options: Options, command: string): string {
  const [id] = options.args;
  if (id === undefined || !isUuid(id)) throw new UsageError(`${command} needs the id of a payout`);
  return id;
}

function rejectionText(outcome: PayoutRejection): string {
  switch (outcome.kind) {
    case 'not_found':
      return 'there is no such payout';
    case 'never_sent':
      return 'the payout was never sent, so its outcome is not unknown: the merchant can cancel it';
    case 'too_early':
      return 'the order was sent recently and may still arrive: try again when the maximum processing time of the rail (BREB_MAX_PROCESSING_MS) plus twenty seconds have passed since it was sent';
    case 'in_progress_at_rail':
      return 'the rail reports the order as in progress, so the money may still leave after a decline. If the rail operator has confirmed in writing that it will not be executed, add --anyway';
    case 'settled_elsewhere':
      return 'the rail has executed it for another amount (see anomalies list), so it cannot be declined or resent: use --confirm, and settle the difference with the rail';
    case 'execution_of_another_payout':
      return 'the rail reports it as settled by an execution that paid another payout (see anomalies list), so it cannot be resent. If the rail operator has confirmed that no money left for it, use --decline';
    case 'rail_in_progress':
      return 'the rail reports the order as in progress: a resent order could be executed twice. Wait for its outcome';
    case 'rail_unanswered':
      return 'the rail did not answer the query: an order is resent only when the rail answers that it does not know it. Try again later';
    case 'resend_scheduled':
      return 'a resend is already scheduled';
    case 'already_final':
      return `the payout is already final: ${outcome.status}`;
  }
}
