import type { Anomaly } from '../anomalies/anomaly.ts';
import type { SystemDeps } from '../deps.ts';
import { listAnomalies, type ResolveOutcome, resolve } from '../flows/resolve-anomaly.ts';
import { isUuid } from '../kit/ids.ts';
import { decimalPesos } from '../kit/money.ts';
import { type Options, type Output, UsageError } from './options.ts';

const MOST_LISTED = 1000;

export async function anomaliesList(deps: SystemDeps, options: Options): Promise<Output> {
  const anomalies = await listAnomalies(deps, options.given('all'), MOST_LISTED);
  return {
    json: anomalies.map(({ amount, ...rest }) => ({
      ...rest,
      amountInCents: amount === null ? null : Number(amount),
    })),
    text:
      anomalies.map(line).join('\n') +
        (anomalies.length === MOST_LISTED ? `\n(and perhaps more: ${MOST_LISTED} are shown)` : '') ||
      (options.given('all') ? 'There has been no anomaly.' : 'Nothing waits for you.'),
  };
}

function line(anomaly: Anomaly): string {
  const money = anomaly.amount === null ? 'no money' : `COP ${decimalPesos(anomaly.amount)}`;
  const about = anomaly.payinId === null ? anomaly.reference : `payin ${anomaly.payinId}`;
  const end = anomaly.resolution === null ? '' : `  ${anomaly.resolution} by ${anomaly.resolvedBy}`;
  return `${anomaly.id}  ${anomaly.noticedAt.toISOString()}  ${anomaly.rail.padEnd(5)}  ${anomaly.kind.padEnd(13)}  ${money}  ${about}${end}`;
}

export async function anomaliesResolve(deps: SystemDeps, options: Options): Promise<Output> {
  const [id] = options.words;
  if (id === undefined || !isUuid(id))
    throw new UsageError('anomalies resolve needs the id of an anomaly (anomalies list shows them)');
  const credit = options.given('credit');
  if (credit === options.given('dismiss')) throw new UsageError('say either --credit or --dismiss');
  const organizationId = options.matching('org', /^[0-9a-f-]{36}$/, 'the id of an organization', '');
  if (organizationId !== '' && !isUuid(organizationId))
    throw new UsageError('--org must be the id of an organization');
  const outcome = await resolve(deps, id, {
    how: credit ? 'credit' : 'dismiss',
    by: options.required('by'),
    note: options.matching('note', /^.{1,500}$/, 'a note of at most 500 letters', '') || null,
    organizationId: organizationId || null,
  });
  if (outcome.kind !== 'resolved') throw new Error(refusal(outcome));
  const { anomaly } = outcome;
  return {
    json: { id, resolution: credit ? 'credit' : 'dismiss', organizationId: outcome.organizationId },
    text:
      anomaly.amount === null
        ? `Anomaly ${id} is put away.`
        : `COP ${decimalPesos(anomaly.amount)} moved from suspense to the available balance of ${outcome.organizationId}.`,
  };
}

function refusal(outcome: Exclude<ResolveOutcome, { kind: 'resolved' }>): string {
  switch (outcome.kind) {
    case 'no such anomaly':
      return 'there is no such anomaly (anomalies list --all shows them)';
    case 'resolved before':
      return `it was resolved before: ${outcome.anomaly.resolution} by ${outcome.anomaly.resolvedBy} at ${outcome.anomaly.resolvedAt?.toISOString()}`;
    case 'no money':
      return 'no money came with it, so there is nothing to credit; --dismiss puts it away';
    case 'holds money':
      return 'it holds money in suspense, which would stay there; --credit gives it to the merchant';
    case 'whose money':
      return 'the money belongs to no payin of ours: say whose it is with --org ID';
    case 'other organization':
      return 'it belongs to a payin of another organization: leave --org out';
    case 'no such organization':
      return 'there is no such organization (org list shows them)';
  }
}
