import { createHash } from 'node:crypto';
import { compose } from '../../server/src/compose.ts';
import { readConfig } from '../../server/src/config.ts';
import { deposit } from '../../server/src/flows/ledger/deposit.system.ts';
import { createOrganization } from '../../server/src/flows/operations/manage-organizations.system.ts';
import { listOrganizations } from '../../server/src/flows/operations/read-organizations.system.ts';
import { cellCode } from '../../server/src/kit/ids.ts';
import { makeLog } from '../../server/src/kit/log.ts';
import { cents } from '../../server/src/kit/money.ts';
import { buildCredential } from '../../server/src/organizations/credential.ts';
import { SCOPES } from '../../server/src/organizations/organization.ts';

const NAME = 'Tienda Aurora';
const OPENING_BALANCE = cents(1_000_000_000);

/** Creates the organization of a development stack with an API key that is the same on every machine. */
export async function seedOrganization(
  settings: Record<string, string>,
): Promise<{ name: string; apiKey: string }> {
  const config = readConfig('operator', settings);
  const [pepper] = config.peppers;
  if (!pepper) throw new Error('no pepper is configured');
  const credential = buildCredential(
    'key',
    config.environment,
    cellCode(config.cell) + digits(14, 32),
    digits(43, 62),
    pepper,
  );
  const { deps, heartbeat, close } = compose(config, makeLog({ level: 'error', base: { role: 'seed' } }));
  try {
    await heartbeat.start();
    const organizations = await listOrganizations(deps);
    let organizationId = organizations.find((organization) => organization.name === NAME)?.id;
    if (organizationId === undefined) {
      ({ id: organizationId } = await createOrganization(
        deps,
        'development',
        {
          name: NAME,
          legalName: 'Tienda Aurora S.A.S.',
          taxId: '900123456-8',
          accent: '#0f766e',
          supportContact: 'ayuda@tienda-aurora.example',
          rails: ['BRE_B', 'PSE'],
          city: 'Bogotá',
          postalCode: '110111',
          merchantCategory: '5999',
        },
        { name: 'development', scopes: SCOPES, lifetimeSeconds: null },
        credential,
      ));
    }
    await deposit(deps, {
      organizationId,
      amount: OPENING_BALANCE,
      reference: 'opening balance',
      operator: 'development',
    });
    return { name: NAME, apiKey: credential.text };
  } finally {
    await heartbeat.stop();
    await close();
  }
}

/** Constant characters, computed instead of hard-coded so that secret scanners find no key in this repository. */
function digits(length: number, base: 32 | 62): string {
  const alphabet =
    base === 32
      ? '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
      : '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const bytes = createHash('sha512').update(`development/${base}`).digest();
  return Array.from({ length }, (_, index) => alphabet.charAt((bytes[index] ?? 0) % base)).join('');
}
