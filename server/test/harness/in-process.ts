import { serverSettings } from '../../../scripts/stack/settings.ts';
import { PATIENT_SETTINGS } from '../../../scripts/testing/patient-settings.ts';
import { compose } from '../../src/compose.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { SystemDeps } from '../../src/deps.ts';
import { createOrganization } from '../../src/flows/operations/manage-organizations.system.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { makeLog } from '../../src/kit/log.ts';
import { openAccounts } from '../../src/ledger/balance.store.ts';
import type { DataKeys } from '../../src/organizations/data-keys.ts';
import { insertOrganization, listOrganizations } from '../../src/organizations/organization.store.ts';
import type { Organization, OrganizationSecrets, Principal } from '../../src/organizations/organization.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import { makeOrganizationKeys } from '../../src/organizations/secrets.ts';

const DETAILS = {
  name: 'Tienda Aurora',
  accent: '#0f766e',
  supportContact: 'ayuda@aurora.example',
  rails: ['BRE_B', 'PSE'],
  city: 'BOGOTA',
  postalCode: '110111',
  merchantCategory: '5999',
} as const;

/** The server's components in the test process, for what HTTP cannot reach: flows, pools, single batches. */
export interface InProcess {
  readonly config: Config;
  readonly deps: SystemDeps;
  readonly keys: DataKeys;
  /** Creates an organization and authenticates with its API key. */
  newOrganization(): Promise<{ readonly principal: Principal; readonly apiKey: string }>;
  /** The principal of an existing API key. */
  authenticate(apiKey: string): Promise<Principal>;
  /** Creates organizations in one transaction, without API keys. */
  newOrganizations(
    count: number,
  ): Promise<{ readonly organization: Organization; readonly secrets: OrganizationSecrets }[]>;
  close(): Promise<void>;
}

/** Settings for a server with a database and unreachable rails. */
export function settingsFor(databaseUrl: string): Record<string, string> {
  const nowhere = 'http://127.0.0.1:1';
  return {
    ...serverSettings({ databaseUrl, simulatorUrl: nowhere, baseUrl: nowhere }),
    ...PATIENT_SETTINGS,
  };
}

export async function composeInProcess(settings: Readonly<Record<string, string>>): Promise<InProcess> {
  const config = readConfig('api', settings);
  const { deps, authenticator, heartbeat, keys, close } = compose(
    config,
    makeLog({ level: 'silent', base: {} }),
  );
  await heartbeat.start();
  const authenticate = async (apiKey: string) => authenticator.authenticate(apiKey, ['key']);
  return {
    config,
    deps,
    keys,
    authenticate,
    newOrganization: async () => {
      const { credential } = await createOrganization(deps, 'test', DETAILS, {
        name: 'first key',
        scopes: SCOPES,
        lifetimeSeconds: null,
      });
      return { principal: await authenticate(credential.text), apiKey: credential.text };
    },
    newOrganizations: async (count) => {
      const ids = new Set(Array.from({ length: count }, () => uuidv7(deps.clock.now(), deps.cell)));
      const organizations = await deps.system.transaction('manage organizations', async (tx) => {
        for (const id of ids) {
          const keys = await makeOrganizationKeys(id, deps.masterKeys);
          await insertOrganization(tx, { ...DETAILS, id, isOperator: false }, keys);
          await openAccounts(tx, id);
        }
        return (await listOrganizations(tx)).filter((organization) => ids.has(organization.id));
      });
      const secretsOf = await keys.load(ids);
      return organizations.map((organization) => ({ organization, secrets: secretsOf(organization.id) }));
    },
    close: async () => {
      await heartbeat.stop();
      await close();
    },
  };
}
