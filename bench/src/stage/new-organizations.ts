import { compose } from '../../../server/src/compose.ts';
import { readConfig } from '../../../server/src/config.ts';
import { createOrganization } from '../../../server/src/flows/operations/manage-organizations.system.ts';
import { makeLog } from '../../../server/src/kit/log.ts';
import { SCOPES } from '../../../server/src/organizations/organization.ts';

export interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

const CONCURRENCY = 4;

const DETAILS = {
  name: 'Bench',
  accent: '#0f766e',
  supportContact: 'bench',
  rails: ['BRE_B', 'PSE'],
  city: 'BOGOTA',
  postalCode: '110111',
  merchantCategory: '5999',
} as const;

/** Creates organizations in this process: starting a server command costs a second of CPU, and benches need dozens. */
export async function newOrganizations(
  settings: Record<string, string>,
  count: number,
): Promise<Organization[]> {
  const { deps, heartbeat, close } = compose(
    readConfig('operator', settings),
    makeLog({ level: 'error', base: {} }),
  );
  try {
    await heartbeat.start();
    const made: Organization[] = [];
    const queue = Array.from({ length: count }).values();
    const worker = async () => {
      for (const _ of queue) {
        const { id, credential } = await createOrganization(deps, 'bench', DETAILS, {
          name: 'bench',
          scopes: SCOPES,
          lifetimeSeconds: null,
        });
        made.push({ organizationId: id, apiKey: credential.text });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return made;
  } finally {
    await heartbeat.stop();
    await close();
  }
}
