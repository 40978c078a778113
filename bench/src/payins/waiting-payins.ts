import { compose } from '../../../server/src/compose.ts';
import { readConfig } from '../../../server/src/config.ts';
import { RailStatusPoller } from '../../../server/src/flows/payins/poll-rail-status.system.ts';
import { makeLog } from '../../../server/src/kit/log.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';

const FEW = 10_000;
const ROUNDS = 8;
const DUE_PER_ROUND = 500;

/**
 * W1: cost of one polling round with a million waiting payins, compared with ten thousand. The round is the real one: it
 * leases 500 due payins, queries the rail in one call, and schedules the next poll.
 */
export async function benchWaitingPayins(stage: Stage, many: number): Promise<Metric[]> {
  await stage.pauseWorkers();
  await stage.query(
    'update caudal.payins set rail_due_at = null, rail_task = null where rail_due_at is not null',
  );
  const few = await roundAt(stage, FEW);
  const lots = await roundAt(stage, many);
  return [
    atMost(10, {
      id: 'W1',
      description: `cost of a polling round of ${DUE_PER_ROUND} payins with ${many} waiting ÷ with ${FEW}`,
      value: lots / few,
      details: `${lots.toFixed(1)} ms ÷ ${few.toFixed(1)} ms, median of ${ROUNDS}`,
      samples: {
        bars: [
          { name: `${many} waiting, ms`, value: lots },
          { name: `${FEW} waiting, ms`, value: few },
        ],
      },
    }),
  ];
}

async function roundAt(stage: Stage, waiting: number): Promise<number> {
  await fill(stage, waiting);
  const { deps, keys, heartbeat, close } = compose(
    readConfig('worker', stage.settings),
    makeLog({ level: 'silent', base: {} }),
  );
  await heartbeat.start();
  try {
    const poller = new RailStatusPoller(deps, keys, 'BRE_B');
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await stage.query(
        `update caudal.payins p set rail_due_at = caudal.now() from (
           select organization_id, id from caudal.payins where rail = 'BRE_B' and rail_task = 'poll' and rail_due_at > caudal.now() limit ${DUE_PER_ROUND}
         ) as w where p.organization_id = w.organization_id and p.id = w.id`,
      );
      const startedAt = performance.now();
      const polled = await poller.pollDue();
      took.push(performance.now() - startedAt);
      if (polled !== DUE_PER_ROUND)
        throw new Error(`${polled} payins were polled instead of ${DUE_PER_ROUND}`);
    }
    return took.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  } finally {
    await heartbeat.stop();
    await close();
  }
}

/** Adds payins that wait for a poll within the hour, up to this number, in one statement. */
async function fill(stage: Stage, waiting: number): Promise<void> {
  const [row] = await stage.query<{ count: string }>(
    "select count(*) as count from caudal.payins where rail_task = 'poll'",
  );
  const missing = waiting - Number(row?.count);
  await stage.query(
    `with new as (
       select overlay(caudal.uuid_floor(caudal.now())::text placing substr(gen_random_uuid()::text, 15) from 15)::uuid as id,
         '@' || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 19)) as key, n
       from generate_series(1, ${missing}) as n
     ),
     keys as (
       insert into caudal.breb_keys (key, organization_id, payin_id, minted_at, registered_at)
       select key, '${stage.organizationId}', id, caudal.now(), caudal.now() from new
     )
     insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, breb_key_type, breb_key,
       created_at, updated_at, expires_at, rail_task, rail_due_at)
     select '${stage.organizationId}', id, 4980000, 'COP', 'BRE_B', 'PROCESSING', 'waiting-' || n, 'SINGLE_USE', key,
       caudal.now(), caudal.now(), caudal.now() + interval '1 hour', 'poll', caudal.now() + interval '10 minutes' + n * interval '1 millisecond'
     from new`,
  );
}
