/** What an audit row says was done. Each code belongs to one command: `ledger.deposit` is written by `ledger deposit`. */
export const ACTION_CODES = [
  'migrate',
  'org.create',
  'org.limits',
  'org.update',
  'org.suspend',
  'org.resume',
  'keys.create',
  'keys.revoke',
  'ledger.deposit',
  'ledger.reverse',
  'anomalies.resolve',
  'payins.end',
  'payouts.resolve',
  'rails.pause',
  'rails.resume',
  'schedules.run',
  'months.detach',
  'secrets.rewrap',
] as const;

export type ActionCode = (typeof ACTION_CODES)[number];

/** `done` commits with the change itself; the others surround a command that cannot run in one transaction. */
type ActionPhase = 'done' | 'started' | 'finished' | 'failed';

/** Never personal data, never a secret: the audit is kept forever and shown to every operator. */
export type ActionDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface OperatorAction {
  /** Who ran the command: `--by`. */
  readonly operator: string;
  readonly action: ActionCode;
  /** Null for actions that concern the whole deployment. */
  readonly organizationId: string | null;
  /** What it was done to: the id of a payout, anomaly, API key or transfer, the name of a rail or schedule. */
  readonly resource: string | null;
  readonly phase?: ActionPhase;
  readonly details?: ActionDetails;
  /** The operator's own words: a reason or a note. */
  readonly note?: string | null;
}

export interface StoredAction extends Required<Omit<OperatorAction, 'action'>> {
  readonly id: string;
  readonly at: Date;
  /** Rows of earlier versions have actions beyond `ActionCode`. */
  readonly action: string;
}

export interface ActionFilters {
  readonly organizationId: string | null;
  readonly operator: string | null;
  readonly action: string | null;
  /** At or after. */
  readonly since: Date | null;
}
