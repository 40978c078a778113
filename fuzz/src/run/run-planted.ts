import { type Outcome, print, tally } from '../../../chaos/src/run/outcome.ts';
import type { Cluster } from '../../../chaos/src/stack/cluster.ts';
import { findAftermath } from './aftermath.ts';
import { CORRUPTIONS, type Corruption } from './corruptions.ts';
import { runRequests } from './run-requests.ts';
import { type Stage, startStage } from './stage.ts';

/** Requests before the first corruption, so that there are pages, lists and ids. */
const WARM_UP = 1500;
const REQUESTS_EACH = 500;

/** Plants defects into the responses of a correct server: the oracle must report every one of them. */
export async function runPlanted(cluster: Cluster, seed: number): Promise<Outcome> {
  print('fuzz: planted defects');
  const stage = await startStage(cluster, seed);
  const counts = tally();
  try {
    await runRequests(stage, { from: 0, until: WARM_UP, onViolations: () => undefined });
    let from = WARM_UP;
    for (const corruption of CORRUPTIONS) {
      const wrong = await plant(stage, corruption, from);
      if (wrong === null) counts.pass();
      else counts.fail(`${corruption.name}: ${wrong}`);
      from += REQUESTS_EACH;
    }
    await plantAftermath(stage, counts);
  } finally {
    await stage.stop();
  }
  return counts.done();
}

async function plant(stage: Stage, { name, rule, apply }: Corruption, from: number): Promise<string | null> {
  let planted = 0;
  let detected = 0;
  let isPlanted = false;
  await runRequests(stage, {
    from,
    until: from + REQUESTS_EACH,
    corrupt: (request, answer) => {
      const corrupted = apply(request, answer, stage);
      isPlanted = corrupted !== null;
      if (isPlanted) planted += 1;
      return corrupted ?? answer;
    },
    // The oracle runs directly after the corruption, so the flag still belongs to this response.
    onViolations: ({ violations }, request) => {
      if (isPlanted && violations.some((violation) => violation.rule === rule)) detected += 1;
      else if (isPlanted) print(`  not detected: ${request.subject}, ${request.method} ${request.target}`);
      isPlanted = false;
    },
  });
  print(`  ${name}: detected ${detected} of ${planted}`);
  if (planted === 0) return 'could not be planted';
  return detected === planted ? null : `${planted - detected} of ${planted} were not detected`;
}

/** The checks after a run must also be able to fail. */
async function plantAftermath(stage: Stage, counts: ReturnType<typeof tally>): Promise<void> {
  const { stack, logs, a } = stage;
  logs.read('{"level":"error","code":"internal_error","msg":"planted"}');
  await stack.workers[0]?.kill();
  const changed = await stack.query(
    'update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where organization_id = $1 returning 1',
    [a.organizationId],
  );
  if (changed.length === 0) counts.fail('there is no balance to change');
  for (const { name, wrong } of await findAftermath(stage)) {
    if (name === 'webhooks' || wrong !== null) counts.pass();
    else counts.fail(`${name}: the planted defect was not detected`);
  }
}
