import type { Cluster } from '../../../chaos/src/stack/cluster.ts';
import { type Stack, startStack } from '../../../chaos/src/stack/stack.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { fetchOpenApi, readOperations } from '../document/openapi.ts';
import { compileValidators } from '../document/validators.ts';
import type { World } from '../generate/generate.ts';
import { LogCheck } from '../oracle/log-check.ts';
import type { OracleParts } from '../oracle/oracle.ts';
import { Ownership } from '../tenants/ownership.ts';
import { Tenant, type TenantName } from '../tenants/tenant.ts';
import { type Sink, startSink } from './sink.ts';

/** A running stack with two organizations that have funds and no rate limits. */
export interface Stage extends World {
  readonly stack: Stack;
  readonly ports: readonly number[];
  readonly oracle: OracleParts;
  readonly logs: LogCheck;
  readonly sink: Sink;
  stop(): Promise<void>;
}

const FUNDS = '900000000.00';

export async function startStage(cluster: Cluster, seed: number): Promise<Stage> {
  const logs = new LogCheck();
  const ownership = new Ownership();
  const sink = await startSink(ownership);
  const stack = await startStack(cluster, { settings: { CAUDAL_LOG_LEVEL: 'info' }, onLine: logs.read });
  const stop = async () => {
    await stack.stop();
    await sink.stop();
  };
  try {
    const a = await newTenant(stack, 'a', ownership);
    const b = await newTenant(stack, 'b', ownership);
    const [api] = stack.apis;
    const document = await fetchOpenApi(api?.url ?? '');
    const operations = readOperations(document);
    const settings = serverSettings({ databaseUrl: '', simulatorUrl: '', baseUrl: '' });
    return {
      seed,
      a,
      b,
      document,
      operations,
      ownership,
      sinkUrl: sink.url,
      secrets: { breb: settings['BREB_NOTICE_SECRET'] ?? '', pse: settings['PSE_NOTICE_SECRET'] ?? '' },
      stack,
      ports: stack.apis.map(({ url }) => Number(new URL(url).port)),
      oracle: { operations, validators: compileValidators(document, operations), ownership },
      logs,
      sink,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function newTenant(stack: Stack, name: TenantName, ownership: Ownership): Promise<Tenant> {
  const organization = await stack.newOrganization();
  const tenant = new Tenant(name, organization);
  const { organizationId, apiKey } = organization;
  ownership.own(name, organizationId);
  ownership.own(name, apiKey);
  await stack.command('org', 'update', organizationId, '--name', `Tienda ${tenant.word}`);
  await stack.command('org', 'limits', organizationId, '--writes', '0', '--reads', '0');
  await stack.command('ledger', 'deposit', '--org', organizationId, '--amount', FUNDS, '--reference', 'fuzz');
  return tenant;
}
