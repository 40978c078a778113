import { setTimeout as sleep } from 'node:timers/promises';
import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { HttpConnection } from '../load/http-connection.ts';
import { payinRequest, requestMaker } from '../load/load-plan.ts';
import { quantile } from '../load/load-result.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Side } from './pages.ts';

const CONNECTIONS = 12;
const QUIET_MS = 4000;
/** Months that `months detach` always retains. */
const KEPT = 6;

/** Counts failed reads and writes while all detachable months are detached. */
export async function benchDetach(side: Side): Promise<Metric[]> {
  const { database } = side;
  const before = database.months[database.months.length - KEPT];
  if (!before) throw new Error(`the database needs a history of more than ${KEPT} months`);
  const month = `${before.name.slice(0, 4)}-${before.name.slice(4)}`;
  const results = { failures: [] as string[], alone: [] as number[], meanwhile: [] as number[] };
  let detaching = false;
  let stopped = false;
  const users = Array.from({ length: CONNECTIONS }, (_, user) =>
    work(
      side,
      user,
      () => stopped,
      (ms, status) => {
        if (status >= 300) results.failures.push(String(status));
        (detaching ? results.meanwhile : results.alone).push(ms);
      },
    ),
  );
  await sleep(QUIET_MS);
  detaching = true;
  const startedAt = performance.now();
  const { detached } = JSON.parse(
    await runServerCommand(['months', 'detach', '--before', month, '--json'], database.settings),
  ) as { detached: string[] };
  const seconds = (performance.now() - startedAt) / 1000;
  detaching = false;
  await sleep(QUIET_MS);
  stopped = true;
  await Promise.all(users);
  const p99 = (all: readonly number[]) =>
    quantile(
      all.toSorted((a, b) => a - b),
      0.99,
    ).toFixed(1);
  if (detached.length === 0) throw new Error(`nothing before ${month} was detached`);
  return [
    atMost(0, {
      id: 'G1',
      description: `requests that failed while ${detached.length} months of tables were detached under load`,
      value: results.failures.length,
      details: `${results.meanwhile.length} requests meanwhile, in ${seconds.toFixed(1)} s; p99 ${p99(results.meanwhile)} ms meanwhile, ${p99(results.alone)} ms before and after`,
    }),
  ];
}

/** One user: alternates between creating payins and reading pages of payins and events from the whole history. */
async function work(
  { database, api }: Side,
  user: number,
  stopped: () => boolean,
  done: (ms: number, status: number) => void,
): Promise<void> {
  const connection = await HttpConnection.open(api.port);
  const apiKey = database.organizations[0]?.apiKey ?? '';
  const create = requestMaker(payinRequest([apiKey], `detach-${process.pid}-${user}`));
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n\r\n`;
  for (let index = 0; !stopped(); index += 1) {
    const month = database.months[index % database.months.length];
    const span = `createdFrom=${new Date(month?.startMs ?? 0).toISOString()}&createdTo=${new Date(month?.endMs ?? 0).toISOString()}`;
    const request =
      [create(index), get(`/payins?${span}`), get(`/events?${span}`), get('/events')][index % 4] ?? '';
    const sentAt = performance.now();
    const { status } = await connection.send(request);
    done(performance.now() - sentAt, status);
    await sleep(20);
  }
  connection.close();
}
