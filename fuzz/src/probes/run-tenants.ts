import { type Outcome, print, tally } from '../../../chaos/src/run/outcome.ts';
import { randomFrom } from '../../../chaos/src/run/random.ts';
import type { Cluster } from '../../../chaos/src/stack/cluster.ts';
import type { Operation } from '../document/openapi.ts';
import type { Context } from '../generate/context.ts';
import { runRequests } from '../run/run-requests.ts';
import { type Stage, startStage } from '../run/stage.ts';
import { addAnomalies, deleteExtraEndpoints, disableRowLevelSecurity, refreshEndpoints } from './database.ts';
import { placesOf, probesOf } from './probe.ts';
import { ProbeResults, sendProbes } from './send-probes.ts';

/** Requests that give both organizations resources, cursors, keys and tokens. */
const WARM_UP = 3000;

/**
 * For each operation and each parameter that can name a resource, one organization uses the other's values in many
 * spellings. The answer must be the one for a value that does not exist. Runs with row-level security and without it, so
 * that the conditions of the queries must hold alone. Row-level security alone is tested by SQL (server/test/isolation).
 */
export async function runTenants(cluster: Cluster, seed: number, values: number): Promise<Outcome> {
  print('fuzz: cross-tenant probes');
  const stage = await startStage(cluster, seed);
  const counts = tally();
  try {
    await runRequests(stage, { from: 0, until: WARM_UP, onViolations: () => undefined });
    await refreshEndpoints(stage);
    await addAnomalies(stage);
    await checkSensitivity(stage, counts);
    const context = contextOf(stage);
    const credentials = await issueCredentials(stage);
    let run = 0;
    for (const layer of ['both layers', 'query conditions alone'] as const) {
      if (layer === 'query conditions alone') await disableRowLevelSecurity(stage);
      const results = new ProbeResults();
      for (const credential of credentials) {
        await deleteExtraEndpoints(stage);
        for (const operation of readsFirst(stage.operations)) {
          const source = { context, credential, count: values, run };
          await sendProbes(stage, probesOf(source, operation), results);
        }
        run += 1;
      }
      print(`  ${layer}: ${results.probes.toLocaleString('en')} probes; ${results.describe()}`);
      const places = stage.operations.flatMap((operation) => placesOf(stage.document, operation));
      print(`  places without a value to probe: ${results.findMissing(places).join('; ') || 'none'}`);
      results.report(counts, layer);
    }
  } finally {
    await stage.stop();
  }
  return counts.done();
}

/** The key and a token with all its scopes: with a scope missing, every answer would be the same 403. */
async function issueCredentials({ stack, b }: Stage): Promise<(readonly [string, string])[]> {
  const response = await fetch(`${stack.apis[0]?.url ?? ''}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: b.keyId,
      client_secret: b.apiKey,
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`POST /oauth/token: ${response.status}`);
  return [
    ['x-api-key', b.apiKey],
    ['authorization', `Bearer ${token}`],
  ];
}

/** Filters by reference must not find what the other probes create. */
function readsFirst(operations: readonly Operation[]): Operation[] {
  return [...operations].sort((one, other) => Number(one.method !== 'GET') - Number(other.method !== 'GET'));
}

/** Organization B asks for the values of A. One generator for all probes: a value is unknown only once. */
function contextOf(stage: Stage): Context {
  return { ...stage, index: 1, random: randomFrom(stage.seed), tenant: stage.b, other: stage.a };
}

/** The probes must be able to fail: with the credential of the owner, every id in a path gives another answer. */
async function checkSensitivity(stage: Stage, counts: ReturnType<typeof tally>): Promise<void> {
  const context = { ...contextOf(stage), tenant: stage.a };
  const credential = ['x-api-key', stage.a.apiKey] as const;
  for (const operation of stage.operations.filter(({ id }) => id.startsWith('get') && id !== 'getBalance')) {
    const [probe] = probesOf({ context, credential, count: 1, run: 0 }, operation);
    const results = new ProbeResults();
    if (probe) await sendProbes(stage, [probe], results);
    if (results.differences > 0) counts.pass();
    else counts.fail(`${operation.id}: the probe does not notice the owner's answer`);
  }
}
