/** The invariants that the model verifies: machine code and description. */
const INVARIANTS = {
  one_payin_per_request: 'a request creates one payin',
  responses_match_rows: 'responses match the database',
  final_state_immutable: 'a final status never changes',
  history_matches_status: 'the history leads to the current status',
  one_event_per_final_state: 'a final status has one event, other statuses have none',
  one_transfer_per_cause: 'every transfer has one cause, and every cause one transfer',
  balances_match_transfers: 'a balance equals the sum of its transfers',
  funds_add_up: 'available and pending balances equal received money minus sent and held money',
  settlement_requires_verification: 'a payment settles only after the rail, when queried, listed it',
  ledger_matches_rail: 'the ledger matches the executions at the rail',
  execution_posted_once: 'an execution is posted once',
  one_execution_confirms: 'one execution confirms a payin, the others go to suspense',
  suspense_has_anomaly: 'money in suspense has an anomaly',
  anomalies_justified: 'every inconsistency has an anomaly, and every anomaly a cause',
  acceptance_credited_once: 'accepted money is credited once, and nothing else leaves suspense',
  payin_end_reported_by_rail: 'a payin ends without money only if the rail reports it',
  key_closed_before_expiry: 'a payin expires only after the rail closed it unpaid',
  acknowledged_notice_stored: 'an acknowledged notice is stored',
  delivered_notice_applied: 'a delivered notice is applied',
  everything_final: 'every payin, payout and link becomes final',
  work_completes: 'pending work completes within the timeout',
  one_payout_per_request: 'a request creates one payout',
  payout_executed_once: 'a payout is executed at most once',
  order_matches_request: 'an order matches its request and always has the same end-to-end id',
  attempt_committed_before_send: 'an order is sent after its attempt is committed',
  resend_requires_unknown_order: 'an order is resent only if the rail does not know it and none is in flight',
  confirmed_by_execution: 'a payout is confirmed by its execution',
  canceled_payout_never_sent: 'a canceled payout was never sent',
  decline_requires_rejection: 'only an explicit rejection declines a payout, never an unknown outcome',
  paid_to_resolved_receiver: 'money goes to the person that was looked up',
  hold_requires_funds: 'a payout is held if and only if the balance covers it',
  held_equals_open_payouts: 'the held balance equals the open payouts',
  payout_transfers_match_status: 'the transfers of a payout match its status',
  one_link_per_request: 'a request creates one payment link',
  open_link_accepts_attempts: 'a link accepts attempts while it is open, and only then',
  attempt_requests_rest: 'an attempt requests what is missing to the amount of its link',
  one_open_attempt_per_rail: 'an open link refers to its open attempts, at most one per rail',
  link_completed_by_sum:
    'a link is completed by the attempt with which its sum reaches its amount, and only then',
  link_parts_credited_once: 'earlier parts of a link are credited once, when it completes',
  link_money_accounted: 'money for a link counts toward its sum or has an anomaly',
  one_event_per_final_link: 'a final link has one event, an open link none',
  closed_link_stays_closed: 'a link expires only if it is closed, and then stays closed',
} as const;

export type ModelInvariantCode = keyof typeof INVARIANTS;

export interface Breach {
  readonly invariant: ModelInvariantCode;
  /** The row or other evidence. */
  readonly about: unknown;
}

export class InvariantViolation extends Error {
  readonly invariant: ModelInvariantCode;

  constructor({ invariant, about }: Breach) {
    super(
      `${invariant} (${INVARIANTS[invariant]}): ${typeof about === 'string' ? about : JSON.stringify(about, asText)}`,
    );
    this.name = 'InvariantViolation';
    this.invariant = invariant;
  }
}

function asText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
