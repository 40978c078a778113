import type { SystemDeps } from '../deps.ts';
import {
  type ApiKeyAtRisk,
  type MasterKeyUse,
  readSecretsStatus,
} from '../flows/operations/read-secrets-status.system.ts';
import { rewrapDataKeys } from '../flows/operations/rewrap-data-keys.system.ts';
import { rotateDataKeys } from '../flows/operations/rotate-data-keys.system.ts';
import type { Options, Output } from './options.ts';

export async function secretsRewrap(deps: SystemDeps, options: Options): Promise<Output> {
  const rewrapped = await rewrapDataKeys(deps, options.by);
  return {
    json: { rewrapped },
    text: `Rewrapped ${rewrapped} keys with the current master key. Restart every process, then remove CAUDAL_MASTER_KEY_PREVIOUS.`,
  };
}

export async function secretsRotateDataKeys(deps: SystemDeps, options: Options): Promise<Output> {
  const id = options.matching('org', /^[0-9a-f-]{36}$/, 'the id of an organization (see org list)', '');
  const rotated = await rotateDataKeys(deps, options.by, id === '' ? null : id);
  if (rotated.length === 0)
    throw new Error(
      'no data key was rotated: there is no such organization (see org list), or its newest key is not active yet (wait 30 seconds)',
    );
  return {
    json: { rotated },
    text: `Added ${rotated.length} data keys; they encrypt in 30 seconds. Workers encrypt existing values again in the background: caudal secrets status shows the progress.`,
  };
}

export async function secretsStatus(deps: SystemDeps): Promise<Output> {
  const status = await readSecretsStatus(deps);
  const rotations = status.rotations.map((rotation) => {
    const { organizationId, organization, number, reencrypted, finishedAt, dueAt, currentTable } = rotation;
    const open = currentTable === '' ? `next pass ${dueAt?.toISOString() ?? ''}` : `in ${currentTable}`;
    const progress = finishedAt ? `finished ${finishedAt.toISOString()}` : open;
    return `  ${organizationId}  ${organization}: data key ${number}, ${reencrypted} values encrypted again, ${progress}`;
  });
  return {
    json: status,
    text: [
      'Master keys',
      ...status.masterKeys.map(masterKeyLine),
      'Rotations of data keys',
      ...(rotations.length === 0 ? ['  none'] : rotations),
      'Active API keys without the current pepper',
      ...(status.apiKeys.length === 0 ? ['  none'] : status.apiKeys.map(apiKeyLine)),
    ].join('\n'),
    bad: status.masterKeys.some(({ configured }) => !configured),
  };
}

const PEPPER_TEXTS = {
  previous: 'previous pepper: stops working without CAUDAL_KEY_PEPPER_PREVIOUS',
  unknown: 'unknown pepper: may stop working without CAUDAL_KEY_PEPPER_PREVIOUS',
  none: 'pepper not configured: does not work',
} as const;

function apiKeyLine({ id, organizationId, name, lastUsedAt, pepper }: ApiKeyAtRisk): string {
  const use = lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : 'never used';
  return `  ${id}  ${name} (${organizationId}), ${use}; ${PEPPER_TEXTS[pepper]}`;
}

function masterKeyLine({ masterKeyId, current, configured, keys }: MasterKeyUse): string {
  const role = current ? 'current' : configured ? 'previous' : 'NOT CONFIGURED';
  return `  ${masterKeyId}  ${role}, wraps ${keys} keys`;
}
