import { readFileSync } from 'node:fs';
import { type OpenApi, readOperations } from '../src/document/openapi.ts';
import { compileValidators } from '../src/document/validators.ts';
import type { World } from '../src/generate/generate.ts';
import { Ownership } from '../src/tenants/ownership.ts';
import { Tenant } from '../src/tenants/tenant.ts';

const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../docs/reference/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
const OPERATIONS = readOperations(DOCUMENT);
const ORGANIZATIONS = {
  a: '01990000-0000-7000-8010-00000000000a',
  b: '01990000-0000-7000-8010-00000000000b',
} as const;

/** Two organizations without a server. */
export function buildWorld(seed: number): World {
  const ownership = new Ownership();
  const tenant = (name: 'a' | 'b') => {
    const apiKey = `cdl_test_01${name.toUpperCase().repeat(14)}_${name.repeat(49)}`;
    ownership.own(name, ORGANIZATIONS[name]);
    ownership.own(name, apiKey);
    return new Tenant(name, { organizationId: ORGANIZATIONS[name], apiKey });
  };
  return {
    seed,
    a: tenant('a'),
    b: tenant('b'),
    document: DOCUMENT,
    operations: OPERATIONS,
    ownership,
    sinkUrl: 'http://127.0.0.1:1',
    secrets: { breb: 'x', pse: 'y' },
  };
}

export function buildOracle(world: World) {
  return {
    operations: OPERATIONS,
    validators: compileValidators(DOCUMENT, OPERATIONS),
    ownership: world.ownership,
  };
}
