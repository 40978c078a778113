import type { ActionFilters, StoredAction } from '../audit/operator-action.ts';
import type { SystemDeps } from '../deps.ts';
import { readActions } from '../flows/operations/read-actions.system.ts';
import { isUuid } from '../kit/ids.ts';
import { type Options, type Output, UsageError } from './options.ts';

const LIMIT = 1000;

export async function auditList(deps: SystemDeps, options: Options): Promise<Output> {
  const actions = await readActions(deps, readFilters(options), LIMIT);
  const cut =
    actions.length === LIMIT ? `\n(the newest ${LIMIT}; narrow it with --since, --by or --org)` : '';
  return { json: actions, text: actions.map(line).join('\n') + cut || 'No operator action matches.' };
}

function line({
  at,
  operator,
  action,
  phase,
  organizationId,
  resource,
  details,
  note,
}: StoredAction): string {
  const facts = Object.entries(details).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${Array.isArray(value) ? value.join(',') : String(value)}`],
  );
  return [
    at.toISOString(),
    phase === 'done' ? action : `${action} ${phase}`,
    resource ?? '-',
    `by ${operator}`,
    ...(organizationId === null ? [] : [`organization ${organizationId}`]),
    ...(facts.length === 0 ? [] : [facts.join(' ')]),
    ...(note === null ? [] : [`note: ${note}`]),
  ].join('  ');
}

function readFilters(options: Options): ActionFilters {
  const organizationId = options.matching('org', /^.+$/, 'the id of an organization', '');
  if (organizationId !== '' && !isUuid(organizationId))
    throw new UsageError('--org must be the id of an organization (see org list)');
  // Accepts the command as typed (`ledger deposit`) and as stored (`ledger.deposit`).
  const action = options.matching('action', /^.{1,60}$/, 'a command such as "ledger deposit"', '');
  return {
    organizationId: organizationId || null,
    operator: options.matching('by', /^.{1,120}$/u, 'a name', '') || null,
    action: action.replace(/^(\w+) (\w+)$/, '$1.$2') || null,
    since: readTime(options, 'since'),
  };
}

/** The time of an option; null without it. */
export function readTime(options: Options, name: 'since' | 'until' | 'backup-at'): Date | null {
  const description =
    'a day such as 2026-11-16 (from midnight in Bogotá) or a time such as 2026-11-16T14:00:00Z';
  const text = options.matching(
    name,
    /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/,
    description,
    '',
  );
  if (text === '') return null;
  const at = new Date(text.includes('T') ? text : `${text}T00:00:00-05:00`);
  if (Number.isNaN(at.getTime())) throw new UsageError(`--${name} must be ${description}`);
  return at;
}
