import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { createKey, createOrganization, endKey } from '../../src/flows/operations/manage-organizations.ts';
import type { Environment } from '../../src/kit/environment.ts';
import { makeLog } from '../../src/kit/log.ts';
import type { Credential } from '../../src/organizations/credential.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import type { Stack } from './stack.ts';

export interface IssuedKey {
  readonly keyId: string;
  readonly apiKey: string;
}

export interface KeyDetails {
  readonly scopes?: readonly string[];
  readonly days?: number;
  /** Another than the stack's own, as if the database were a copy of that environment's. */
  readonly environment?: Environment;
}

/**
 * Issues and ends credentials of a running stack by the flows that the operator's commands call, inside the test's own
 * process: a command costs a process of its own, which is a second on a busy machine.
 */
export interface CredentialDriver {
  newOrganization(
    rails?: readonly ('BRE_B' | 'PSE')[],
  ): Promise<IssuedKey & { readonly organizationId: string }>;
  newKey(organizationId: string, details?: KeyDetails): Promise<IssuedKey>;
  revoke(keyId: string): Promise<void>;
  close(): Promise<void>;
}

const DETAILS = {
  name: 'Tienda Aurora',
  accent: '#0f766e',
  supportContact: 'ayuda@aurora.example',
  city: 'BOGOTA',
  postalCode: '110111',
  merchantCategory: '5999',
} as const;

export async function openCredentialDriver(stack: Stack): Promise<CredentialDriver> {
  const config = readConfig('operator', { ...stack.settings, DATABASE_URL: stack.database.ownerUrl });
  const { deps, heartbeat, close } = compose(config, makeLog({ level: 'silent', base: {} }));
  await heartbeat.start();
  return {
    newOrganization: async (rails = ['BRE_B', 'PSE']) => {
      const key = { name: 'first key', scopes: SCOPES, lifetimeSeconds: null };
      const { id, credential } = await createOrganization(deps, 'test', { ...DETAILS, rails }, key);
      return { organizationId: id, ...issued(credential) };
    },
    newKey: async (organizationId, { scopes = SCOPES, days, environment = deps.environment } = {}) => {
      const lifetimeSeconds = days === undefined ? null : days * 86_400;
      const key = { name: 'test', scopes, lifetimeSeconds };
      const credential = await createKey({ ...deps, environment }, 'test', organizationId, key);
      if (!credential) throw new Error(`there is no organization ${organizationId}`);
      return issued(credential);
    },
    revoke: async (keyId) => {
      if (!(await endKey(deps, 'test', keyId))) throw new Error(`there is no live key ${keyId}`);
    },
    close: async () => {
      await heartbeat.stop();
      await close();
    },
  };
}

function issued({ id, text }: Credential): IssuedKey {
  return { keyId: id, apiKey: text };
}
