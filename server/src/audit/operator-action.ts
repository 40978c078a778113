/** The actions in the audit log. Each code belongs to one command: `ledger deposit` writes `ledger.deposit`. */
export const ACTION_CODES = [
  'migrate',
  'org.create',
  'org.limits',
  'org.payout-limits',
  'org.update',
  'org.suspend',
  'org.resume',
  'keys.create',
  'keys.update',
  'keys.revoke',
  'ledger.deposit',
  'ledger.reverse',
  'anomalies.resolve',
  'payins.end',
  'payouts.resolve',
  'rails.pause',
  'rails.resume',
  'rails.pause-after-restore',
  'rails.reconcile-after-restore',
  'restored.resolve',
  'backup.check',
  'schedules.run',
  'months.detach',
  'secrets.rewrap',
  'secrets.rotate',
  'people.find',
  'people.export',
  'people.hold',
  'people.release',
  'people.erase',
] as const;

export type ActionCode = (typeof ACTION_CODES)[number];

/** `done` commits with the change. The other phases are for commands that cannot run in one transaction. */
type ActionPhase = 'done' | 'started' | 'finished' | 'failed';

/** Must not contain personal data or secrets: audit rows are kept permanently and shown to every operator. */
export type ActionDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface OperatorAction {
  /** Who ran the command: `--by`. */
  readonly operator: string;
  readonly action: ActionCode;
  /** Null for actions that concern the whole deployment. */
  readonly organizationId: string | null;
  /** The target: the id of a payout, anomaly, API key or transfer, or the name of a rail or schedule. */
  readonly resource: string | null;
  readonly phase?: ActionPhase;
  readonly details?: ActionDetails;
  /** The reason or note that the operator gave. */
  readonly note?: string | null;
}

export interface StoredAction extends Required<Omit<OperatorAction, 'action'>> {
  readonly id: string;
  readonly at: Date;
  /** A string, because rows of earlier versions have other actions. */
  readonly action: string;
}

export interface ActionFilters {
  readonly organizationId: string | null;
  readonly operator: string | null;
  readonly action: string | null;
  /** At or after. */
  readonly since: Date | null;
}
