import { readConfig } from '../config.ts';
import type { SystemDeps } from '../deps.ts';
import { type AuditedEnd, auditAround } from '../flows/operations/audit-around.system.ts';
import {
  type DetachResult,
  detachMonths,
  MIN_RETENTION_MONTHS,
} from '../flows/operations/detach-months.system.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function monthsDetach(deps: SystemDeps, options: Options): Promise<Output> {
  const before = options.required('before');
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(before)) throw new UsageError('--before must be a month: 2026-01');
  const { ownerUrl } = readConfig('operator').database;
  if (ownerUrl === null)
    throw new Error('months detach needs DATABASE_URL with the schema owner, as migrate does');
  const action = {
    operator: options.by,
    action: 'months.detach',
    organizationId: null,
    resource: before,
  } as const;
  const work = () => detachMonths(deps, ownerUrl, before.replace('-', ''));
  const outcome = await auditAround(deps, action, work, toAuditedEnd);
  const months = detachedMonths(outcome);
  const names = months.map(({ table, month }) => `caudal.${table}_${month}`);
  return {
    json: { detached: names },
    text: names.length === 0 ? `Nothing to detach before ${before}.` : detachedText(names),
  };
}

function toAuditedEnd(outcome: DetachResult): AuditedEnd {
  switch (outcome.kind) {
    case 'detached':
      return {
        phase: 'finished',
        details: { detached: outcome.months.map(({ table, month }) => `${table}_${month}`) },
      };
    case 'open':
      return { phase: 'failed', details: { error: 'month_open', month: outcome.month } };
    case 'within_retention':
      return { phase: 'failed', details: { error: 'month_too_young' } };
  }
}

function detachedMonths(outcome: DetachResult) {
  if (outcome.kind === 'within_retention')
    throw new Error(
      `${MIN_RETENTION_MONTHS} whole months are always kept: --before can be ${dashed(outcome.oldestRetainedMonth)} at the latest`,
    );
  if (outcome.kind === 'open') {
    const open = outcome.open.map(({ what, count }) => `${count} ${what}`).join(', ');
    throw new Error(`${dashed(outcome.month)} still has open rows: ${open}. Nothing was detached`);
  }
  return outcome.months;
}

function detachedText(names: readonly string[]): string {
  return [
    `Detached ${names.length} partitions. They are now standalone tables that only the schema owner can read:`,
    ...names.map((name) => `  ${name}`),
    'Archive each table (pg_dump --table NAME), then drop it (drop table NAME).',
  ].join('\n');
}

function dashed(month: string): string {
  return `${month.slice(0, 4)}-${month.slice(4)}`;
}
