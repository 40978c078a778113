import { runLoad } from './load.ts';
import { runPgbench } from './pgbench.ts';
import type { Stage } from './stage.ts';

const CONNECTIONS = 128;

interface Totals {
  readonly commits: number;
  readonly wal_bytes: number;
}

/** P1: creations a second by the API ÷ the same rows written by pgbench, in one run. P8 falls out of it. */
export async function benchCreatePayins(
  stage: Stage,
  seconds: { api: number; pgbench: number },
): Promise<void> {
  const bare = async (clients: number) => {
    const result = await runPgbench({
      url: stage.twinUrl,
      organizationId: stage.organizationId,
      folder: stage.folder,
      clients,
      seconds: seconds.pgbench,
    });
    console.log(
      `  pgbench ${String(clients).padStart(3)} clients   ${result.perSecond.toFixed(0).padStart(6)} tx/s   average ${result.latencyMs.toFixed(1)} ms`,
    );
    return result;
  };
  // The bare twin before and after, so that a machine that slows down during the run does not decide the ratio.
  const twins = [await bare(8), await bare(16)];
  const before = await totals(stage);
  const load = await runLoad({
    ports: stage.ports,
    connections: CONNECTIONS,
    seconds: seconds.api,
    warmUpSeconds: 4,
    request: requestMaker(stage),
  });
  const after = await totals(stage);
  console.log(
    `  POST /payins ${CONNECTIONS} connections, ${stage.ports.length} API processes ${load.perSecond.toFixed(0).padStart(6)} req/s   p50 ${load.p50Ms.toFixed(1)} ms   p99 ${load.p99Ms.toFixed(1)} ms   max ${load.maxMs.toFixed(0)} ms   failures ${load.failures}   generator ${((load.generatorCpuSeconds / load.seconds) * 100).toFixed(0)} % of a core`,
  );
  twins.push(await bare(32), await bare(64));
  const best = twins.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  const created = after.payins - before.payins;
  if (load.failures > 0) throw new Error(`${load.failures} creations were not answered 201`);
  await checkAllThere(stage, load.requests, created);
  console.log(
    `P1 ${(load.perSecond / best.perSecond).toFixed(2)} creations of the API ÷ pgbench (${load.perSecond.toFixed(0)} ÷ ${best.perSecond.toFixed(0)} at ${best.clients} clients); p50 ${load.p50Ms.toFixed(1)} ms, p99 ${load.p99Ms.toFixed(1)} ms at ${CONNECTIONS} connections; target 1.0 and 50 ms`,
  );
  console.log(
    `P8 ${((after.wal_bytes - before.wal_bytes) / created).toFixed(0)} bytes of WAL and ${((after.commits - before.commits) / created).toFixed(3)} commits a payin, key registration included; target 3072 and 0.1`,
  );
}

async function totals(stage: Stage): Promise<Totals & { payins: number }> {
  // Counters of a backend reach the statistics a moment after its transaction.
  const [row] = await stage.query<{ commits: string; wal_bytes: string; payins: string }>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal_bytes, (select count(*) from caudal.payins) as payins`,
  );
  return { commits: Number(row?.commits), wal_bytes: Number(row?.wal_bytes), payins: Number(row?.payins) };
}

/** A speed is worth nothing if what was acknowledged is not there. */
async function checkAllThere(stage: Stage, acknowledged: number, created: number): Promise<void> {
  if (created < acknowledged)
    throw new Error(`${acknowledged} creations were acknowledged, ${created} are in the database`);
  const [row] = await stage.query<{ lost: string }>(
    'select count(*) as lost from caudal.payins p where not exists (select from caudal.breb_keys k where k.payin_id = p.id) or not exists (select from caudal.payin_history h where h.organization_id = p.organization_id and h.payin_id = p.id)',
  );
  if (row?.lost !== '0') throw new Error(`${row?.lost} payins lack their key or their history`);
}

function requestMaker(stage: Stage): (index: number) => string {
  const run = process.pid;
  return (index) => {
    const body = `{"amountInCents":4980000,"currency":"COP","rail":"BRE_B","reference":"order-${run}-${index}","inlineCustomer":{"name":"Ana María Rojas","idType":"CO_CC","idNumber":"1020304050","phone":"+573001234567","email":"ana.rojas@example.com"},"breb":{"keyType":"SINGLE_USE"},"callbackUrl":"https://shop.example.com/thanks"}`;
    return `POST /payins HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${stage.apiKey}\r\nidempotency-key: key-${run}-${index}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
}
