import type { SystemDeps } from '../deps.ts';
import { auditAround } from '../flows/operations/audit-around.system.ts';
import { pauseAfterRestore } from '../flows/operations/guard-sending.system.ts';
import {
  type Reconciliation,
  reconcileAfterRestore,
} from '../flows/operations/reconcile-after-restore.system.ts';
import { type Difference, LISTED } from '../flows/operations/restore-difference.ts';
import { realTime } from '../kit/clock.ts';
import { decimalPesos } from '../kit/money.ts';
import { readTime } from './audit.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function railsPauseAfterRestore(deps: SystemDeps, options: Options): Promise<Output> {
  const reason = options.matching('reason', /^.{1,500}$/u, 'a text of 1 to 500 characters', 'a restore');
  await pauseAfterRestore(deps, options.by, reason);
  return {
    json: { paused: true, reason },
    text: 'All sending is paused, effective within a second. To compare the database with the rails and resume: caudal rails reconcile-after-restore --since TIME --by NAME',
  };
}

export async function railsReconcileAfterRestore(deps: SystemDeps, options: Options): Promise<Output> {
  const since = readTime(options, 'since');
  if (since === null) throw new UsageError('--since is missing');
  if (since > realTime()) throw new UsageError('--since must be in the past');
  const dryRun = options.hasFlag('dry-run');
  const work = () => reconcileAfterRestore(deps, { since, dryRun });
  const result = dryRun
    ? await work()
    : await auditAround(
        deps,
        {
          operator: options.by,
          action: 'rails.reconcile-after-restore',
          organizationId: null,
          resource: since.toISOString(),
        },
        work,
        ({ resumed, differences }) => ({
          phase: resumed ? 'finished' : 'failed',
          details: { resumed, differences: differences.length },
        }),
      );
  return toOutput(result, dryRun);
}

function toOutput(
  { guard, compared, differences, verification, resumed }: Reconciliation,
  dryRun: boolean,
): Output {
  const listed = differences.filter(({ kind }) => LISTED.has(kind));
  const verified =
    verification === null ? 'not run' : verification.broken.length === 0 ? 'consistent' : 'inconsistent';
  return {
    json: {
      paused: guard.hold !== null && !resumed,
      compared,
      differences: differences.map(({ amount, ...difference }) => ({
        ...difference,
        amountInCents: Number(amount),
        listed: LISTED.has(difference.kind),
      })),
      ledger: verified,
      resumed,
    },
    text: [
      `Compared ${compared.orders} orders and ${compared.payments} payments of the rails.`,
      ...differences.map(toLine),
      `${differences.length - listed.length} differences ${dryRun ? 'to book' : 'booked'}, ${listed.length} for a person to look at${listed.length > 0 ? ' (see restored list, anomalies list)' : ''}.`,
      ...(dryRun ? ['Dry run: nothing was changed.'] : [`Ledger: ${verified}.`]),
      resumed
        ? 'Sending is resumed.'
        : guard.hold === null && dryRun
          ? 'Sending is not paused.'
          : `Sending stays paused.${dryRun ? '' : ' Run: caudal ledger verify'}`,
    ].join('\n'),
    bad: !dryRun && !resumed,
  };
}

const ACTIONS: Readonly<Record<Difference['kind'], string>> = {
  payout_executed: 'payout confirmed: the rail executed it',
  payout_rejected: 'payout declined: the rail rejected it',
  payout_in_progress: 'payout marked as sent: the rail processes it',
  unknown_order: 'NO PAYOUT: money in suspense; payouts that may repeat it are held',
  contradiction: 'CONTRADICTION: see anomalies list',
  payment_received: 'payment booked for its payin',
  unknown_payment: 'NO PAYIN: money in suspense',
};

function toLine({ kind, rail, reference, amount, resourceId }: Difference): string {
  return `  ${rail.padEnd(5)}  ${reference.padEnd(32)}  COP ${decimalPesos(amount).padStart(15)}  ${ACTIONS[kind]}${resourceId === null ? '' : ` (${resourceId})`}`;
}
