import { writeFile } from 'node:fs/promises';
import type { ActionDetails, OperatorAction } from '../audit/operator-action.ts';
import type { SystemDeps } from '../deps.ts';
import { auditAround } from '../flows/operations/audit-around.system.ts';
import {
  type AssessedResource,
  assessResources,
  type ErasureStatus,
  erasePerson,
} from '../flows/people/erase-person.system.ts';
import { exportPerson } from '../flows/people/export-person.system.ts';
import { findPerson } from '../flows/people/find-person.system.ts';
import { personName } from '../flows/people/legal-holds.system.ts';
import type { PersonIdentifier } from '../people/person.ts';
import type { Options, Output } from './options.ts';
import { readIdentifier, readOptionalOrganization } from './person-options.ts';

export async function peopleFind(deps: SystemDeps, options: Options): Promise<Output> {
  const { identifier, organizationId, action } = await readRequest(deps, options, 'people.find');
  const found = await auditAround(
    deps,
    action,
    async () => assessResources(deps, await findPerson(deps, identifier, organizationId)),
    (resources) => ({ phase: 'finished', details: countStatuses(resources) }),
  );
  return report(action, found, 'No data of this person was found.');
}

export async function peopleExport(deps: SystemDeps, options: Options): Promise<Output> {
  const output = options.required('output');
  const { identifier, organizationId, action } = await readRequest(deps, options, 'people.export');
  const document = await auditAround(
    deps,
    action,
    async () => {
      const exported = await exportPerson(deps, identifier, organizationId);
      // Fails if the file exists: its mode would stay as it is.
      await writeFile(output, `${JSON.stringify(exported, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      return exported;
    },
    ({ resources }) => ({ phase: 'finished', details: { resources: resources.length } }),
  );
  const count = document.resources.length;
  return {
    json: { person: action.resource, resources: count, output },
    text: `Wrote ${count} ${count === 1 ? 'resource' : 'resources'} of the person to ${output}. It contains personal data: send it over a safe channel, then delete it.`,
  };
}

export async function peopleErase(deps: SystemDeps, options: Options): Promise<Output> {
  const dryRun = options.hasFlag('dry-run');
  const { identifier, organizationId, action } = await readRequest(deps, options, 'people.erase');
  const resources = await auditAround(
    deps,
    { ...action, details: { dryRun } },
    () => erasePerson(deps, identifier, organizationId, dryRun),
    (assessed) => ({
      phase: 'finished',
      details: { ...countStatuses(assessed), resources: erasedIds(assessed) },
    }),
  );
  return report(action, resources, 'No data of this person was found. Nothing was erased.');
}

interface Request {
  readonly identifier: PersonIdentifier;
  readonly organizationId: string | null;
  readonly action: OperatorAction;
}

async function readRequest(
  deps: SystemDeps,
  options: Options,
  action: OperatorAction['action'],
): Promise<Request> {
  const identifier = readIdentifier(options);
  const organizationId = readOptionalOrganization(options);
  const person = await personName(deps, identifier);
  return {
    identifier,
    organizationId,
    action: { operator: options.by, action, organizationId, resource: person },
  };
}

/** The size of an audit row is limited; every erased row has its time in `erased_at`. */
const MAX_LISTED_IDS = 100;

function erasedIds(resources: readonly AssessedResource[]): string[] {
  return resources
    .filter(({ status }) => status === 'erased')
    .slice(0, MAX_LISTED_IDS)
    .map(({ resource }) => resource.value.id);
}

function countStatuses(resources: readonly AssessedResource[]): ActionDetails {
  const groups = Map.groupBy(resources, ({ status }) => status);
  return Object.fromEntries([...groups].map(([status, members]) => [status, members.length]));
}

const STATUS_TEXTS: Readonly<Record<ErasureStatus, string>> = {
  erased: 'erased',
  erasable: 'can be erased',
  held: 'kept: legal hold (see people holds)',
  in_progress: 'kept: in progress',
  retained: 'kept: legal retention',
};

function report(action: OperatorAction, resources: readonly AssessedResource[], empty: string): Output {
  const lines = resources.map(({ resource, as, status, retainedUntil }) => {
    const until =
      status === 'retained'
        ? ` until ${retainedUntil?.toISOString().slice(0, 10) ?? 'its anomaly is resolved'}`
        : '';
    const { kind, organization, value } = resource;
    return `  ${kind} ${value.id}  ${value.createdAt.toISOString()}  ${value.status}  ${organization.name} (${organization.id}), as ${as}: ${STATUS_TEXTS[status]}${until}`;
  });
  return {
    json: {
      person: action.resource,
      resources: resources.map(({ resource, as, status, retainedUntil }) => ({
        kind: resource.kind,
        id: resource.value.id,
        organizationId: resource.organization.id,
        personIs: as,
        createdAt: resource.value.createdAt.toISOString(),
        state: resource.value.status,
        status,
        retainedUntil: retainedUntil?.toISOString() ?? null,
      })),
    },
    text:
      resources.length === 0
        ? empty
        : [`Person ${action.resource ?? ''} (keyed hash, as in the audit log):`, ...lines].join('\n'),
  };
}
