import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';

const CONCURRENCY = 8;

export interface Endpoint {
  readonly apiKey: string;
  readonly id: string;
}

/** Creates endpoints of one organization, one per port. */
export async function createEndpoints(
  stage: Stage,
  apiKey: string,
  ports: readonly number[],
): Promise<Endpoint[]> {
  return Promise.all(
    ports.map(async (port) => {
      const answer = await call(stage, apiKey, 'POST', '/webhook-endpoints', {
        url: `http://127.0.0.1:${port}/hook`,
      });
      return { apiKey, id: ((await answer.json()) as { id: string }).id };
    }),
  );
}

/** Creates endpoints for all ports, distributed over the organizations in order. */
export async function createEndpointsPerOrganization(
  stage: Stage,
  organizations: readonly Organization[],
  ports: readonly number[],
): Promise<Endpoint[]> {
  const each = ports.length / organizations.length;
  const made = await mapConcurrently([...organizations.entries()], ([index, { apiKey }]) =>
    createEndpoints(stage, apiKey, ports.slice(index * each, (index + 1) * each)),
  );
  return made.flat();
}

export async function deleteEndpoints(stage: Stage, endpoints: readonly Endpoint[]): Promise<void> {
  await mapConcurrently(endpoints, ({ apiKey, id }) =>
    call(stage, apiKey, 'DELETE', `/webhook-endpoints/${id}`),
  );
}

/** Maps with limited concurrency; results are in the order of the items. */
async function mapConcurrently<T, R>(items: readonly T[], use: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, each] of queue) results[index] = await use(each);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}

/** Replays all events of a time range to every endpoint of the organization. @returns the number of deliveries */
export async function replay(stage: Stage, apiKey: string, from: string, to: string): Promise<number> {
  let deliveries = 0;
  let after: string | null = null;
  do {
    const body = { createdFrom: from, createdTo: to, ...(after === null ? {} : { after }) };
    const answer = await call(stage, apiKey, 'POST', '/events/replay', body);
    const replayed = (await answer.json()) as { deliveries: number; nextAfter: string | null };
    deliveries += replayed.deliveries;
    after = replayed.nextAfter;
  } while (after !== null);
  return deliveries;
}

async function call(
  stage: Stage,
  apiKey: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${stage.ports[0]}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok)
    throw new Error(`${method} ${path} failed with status ${answer.status}: ${await answer.text()}`);
  return answer;
}
