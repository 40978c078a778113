import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import {
  createApiKey,
  createOrganization,
  revokeApiKey,
} from '../../src/flows/operations/manage-organizations.system.ts';
import type { Environment } from '../../src/kit/environment.ts';
import { makeLog } from '../../src/kit/log.ts';
import type { Credential } from '../../src/organizations/credential.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import type { Stack } from './stack.ts';

export interface IssuedKey {
  readonly keyId: string;
  readonly apiKey: string;
}

export interface ApiKeyDetails {
  readonly scopes?: readonly string[];
  readonly days?: number;
  /** Differs from the stack's own to simulate a database copied from another environment. */
  readonly environment?: Environment;
}

/**
 * Issues and revokes credentials of a running stack. It calls the flows behind the operator commands in the
 * test process, because a separate command process takes a second on a busy machine.
 */
export interface CredentialDriver {
  newOrganization(
    rails?: readonly ('BRE_B' | 'PSE')[],
  ): Promise<IssuedKey & { readonly organizationId: string }>;
  newKey(organizationId: string, details?: ApiKeyDetails): Promise<IssuedKey>;
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
      return { organizationId: id, ...toIssuedKey(credential) };
    },
    newKey: async (organizationId, { scopes = SCOPES, days, environment = deps.environment } = {}) => {
      const lifetimeSeconds = days === undefined ? null : days * 86_400;
      const key = { name: 'test', scopes, lifetimeSeconds };
      const credential = await createApiKey({ ...deps, environment }, 'test', organizationId, key);
      if (!credential) throw new Error(`organization ${organizationId} does not exist`);
      return toIssuedKey(credential);
    },
    revoke: async (keyId) => {
      if (!(await revokeApiKey(deps, 'test', keyId))) throw new Error(`no active API key ${keyId}`);
    },
    close: async () => {
      await heartbeat.stop();
      await close();
    },
  };
}

function toIssuedKey({ id, text }: Credential): IssuedKey {
  return { keyId: id, apiKey: text };
}
