import { listDetachedMonths } from '../db/months.ts';
import type { SystemDeps } from '../deps.ts';
import { RETENTION_POLICY, type RetentionEnd } from '../people/retention-policy.ts';
import type { Output } from './options.ts';

const END_TEXTS: Readonly<Record<RetentionEnd, string>> = {
  never: 'nothing',
  months_detach: 'months detach',
  housekeeping: 'schedule housekeeping',
  erasure: 'people erase, schedule personal-data',
  change: 'the change itself',
};

export async function retentionList({ legalRetentionYears, system }: SystemDeps): Promise<Output> {
  const detachedMonths = await listDetachedMonths(system);
  const lines = RETENTION_POLICY.map(({ table, kept, endedBy, personal, reason }) =>
    [
      `${table}: ${kept}`,
      `  why: ${reason}; ended by: ${END_TEXTS[endedBy]}`,
      ...(personal.length === 0 ? [] : [`  personal data: ${personal.join(', ')}`]),
    ].join('\n'),
  );
  return {
    json: { legalRetentionYears, tables: RETENTION_POLICY, detachedMonths },
    text: [
      `Legal retention: ${legalRetentionYears} years (CAUDAL_LEGAL_RETENTION_YEARS)`,
      ...lines,
      detachedMonths.length === 0
        ? 'Detached months in this database: none'
        : `Detached months in this database, to archive and drop: ${detachedMonths.join(', ')}`,
    ].join('\n'),
  };
}
