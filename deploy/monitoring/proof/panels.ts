import { setTimeout as sleep } from 'node:timers/promises';
import { DASHBOARDS } from '../dashboards/dashboards.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

const DATA_WITHIN_MS = 90_000;

/** Waits until every query of every dashboard returns a number. */
export async function requireData({ prometheus }: World): Promise<string> {
  const queries = DASHBOARDS.flatMap(({ title, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap((panel) =>
        panel.queries.map(({ expr }) => ({ name: `${title}, ${panel.title}`, expr })),
      ),
    ),
  );
  await waitFor('all processes are scraped', async () =>
    (await prometheus.query('count(up == 1) == 4')).length === 1 ? true : null,
  );
  const count = queries.length;
  let empty = queries;
  const deadline = performance.now() + DATA_WITHIN_MS;
  for (;;) {
    const results = await Promise.all(
      empty.map(async (query) => ({ query, samples: await prometheus.query(query.expr) })),
    );
    empty = results
      .filter(({ samples }) => !samples.some(({ value }) => !Number.isNaN(value)))
      .map(({ query }) => query);
    if (empty.length === 0) break;
    if (performance.now() > deadline)
      throw new Error(`no data:\n${empty.map(({ name, expr }) => `  ${name}: ${expr}`).join('\n')}`);
    await sleep(1000);
  }
  return `${count} queries`;
}
