import { readConfig } from '../config.ts';
import type { SystemDeps } from '../deps.ts';
import { type AuditedEnd, auditAround } from '../flows/operations/audit-around.ts';
import { type Detaching, detachMonths, KEPT_MONTHS } from '../flows/operations/detach-months.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function monthsDetach(deps: SystemDeps, options: Options): Promise<Output> {
  const before = options.required('before');
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(before)) throw new UsageError('--before must be a month: 2026-01');
  const { ownerUrl } = readConfig('operator').database;
  if (ownerUrl === null)
    throw new Error('months detach needs DATABASE_URL as the owner of the schema, as migrate does');
  const action = {
    operator: options.by,
    action: 'months.detach',
    organizationId: null,
    resource: before,
  } as const;
  const detaching = () => detachMonths(deps, ownerUrl, before.replace('-', ''));
  const outcome = await auditAround(deps, action, detaching, endOf);
  const months = detachedMonths(outcome);
  const names = months.map(({ table, month }) => `caudal.${table}_${month}`);
  return {
    json: { detached: names },
    text: names.length === 0 ? `Nothing before ${before} is left to detach.` : farewell(names),
  };
}

function endOf(outcome: Detaching): AuditedEnd {
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

function detachedMonths(outcome: Detaching) {
  if (outcome.kind === 'within_retention')
    throw new Error(
      `${KEPT_MONTHS} whole months are kept: --before can be ${dashed(outcome.keptFrom)} at the latest`,
    );
  if (outcome.kind === 'open') {
    const open = outcome.open.map(({ what, count }) => `${count} ${what}`).join(', ');
    throw new Error(`${dashed(outcome.month)} is not over: ${open}. Nothing was detached`);
  }
  return outcome.months;
}

function farewell(names: readonly string[]): string {
  return [
    `Detached ${names.length}; they are tables of their own now, and only the owner of the database reads them:`,
    ...names.map((name) => `  ${name}`),
    'Keep them elsewhere (pg_dump --table NAME), then let them go (drop table NAME).',
  ].join('\n');
}

function dashed(month: string): string {
  return `${month.slice(0, 4)}-${month.slice(4)}`;
}
