import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { rollSubtotals } from '../../src/flows/ledger/roll-subtotals.system.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { linkRequest } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { EventReader } from '../webhooks/event-reader.ts';

interface ListedResource {
  readonly id: string;
  readonly createdAt: string;
}

/** The current processes: those of the stack, or their replacements after a restart. */
interface RunningProcesses {
  readonly url: string;
  readonly api: ApiClient;
  readonly driver: PayoutDriver;
}

/** One resource of every list, in creation order. */
interface CreatedResources {
  readonly payin: ListedResource;
  readonly link: ListedResource;
  readonly payout: ListedResource;
}

type ServerProcess = Child & { readonly opsUrl: string };

let stack: Stack;
let running: RunningProcesses;
let children: ServerProcess[];
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  running = { url: stack.apis[0]?.url ?? '', api: stack.api, driver: new PayoutDriver(stack) };
  children = [...stack.apis, ...stack.workers];
  await running.driver.fund();
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()));
  await stack?.stop();
});

/**
 * Shifts only the database time: rails and machines keep theirs. Returns when every process has sampled the shifted time:
 * until then an id of one process may be hours before an id of another.
 */
async function shift(interval: string): Promise<void> {
  await stack.database.query('select caudal.shift_time($1)', [interval]);
  const shiftedAt = performance.now();
  for (const process of children)
    await until('the process has sampled the shifted time', async () => {
      const elapsedSeconds = (performance.now() - shiftedAt) / 1000;
      return (await readMetric(process, 'caudal_clock_age_seconds')) < elapsedSeconds;
    });
}

async function createResources({ api, driver }: RunningProcesses): Promise<CreatedResources> {
  const created = async (path: string, body: object) => {
    const answer = await api.post<ListedResource & { readonly paymentLinkId?: string }>(path, body);
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const payin = await created('/payins', brebPayin());
  const { paymentLinkId = '' } = await created('/payment-links', linkRequest());
  const link = (await api.get<{ createdAt: string }>(`/payment-links/${paymentLinkId}`)).body;
  const { payout } = await driver.create();
  await driver.waitForStatus(payout.id, 'CONFIRMED');
  return { payin, link: { id: paymentLinkId, createdAt: link.createdAt }, payout };
}

/** Restarts all processes, as after a failover: the new ones never saw a time later than the database's. */
async function restart(): Promise<RunningProcesses> {
  await Promise.all(children.map((child) => child.stop()));
  const api = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
  const worker = await startServer('worker', stack.settings);
  children = [api, worker].map((child) => ({
    ...child,
    opsUrl: `http://127.0.0.1:${String(child.ready['opsPort'])}`,
  }));
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  const client = stack.api.at(url);
  const driver = new PayoutDriver({ ...stack, api: client });
  await driver.simulator.setNotificationUrls([url]);
  return { url, api: client, driver };
}

/** Lists the time span in which these rows were created, plus a millisecond. */
async function listSpan<Row>(path: string, rows: readonly ListedResource[]): Promise<Row[]> {
  const times = rows.map(({ createdAt }) => Date.parse(createdAt));
  const span = new URLSearchParams({
    createdFrom: new Date(Math.min(...times)).toISOString(),
    createdTo: new Date(Math.max(...times) + 1).toISOString(),
    pageSize: '100',
  });
  const { status, body } = await running.api.get<{ data: Row[] }>(`${path}?${span.toString()}`);
  expect(status).toBe(200);
  return body.data;
}

const toIds = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function expectListed(all: readonly CreatedResources[]): Promise<void> {
  const payins = all.map(({ payin }) => payin);
  expect(toIds(await listSpan<ListedResource>('/payins', payins))).toEqual(
    expect.arrayContaining(toIds(payins)),
  );
  const links = all.map(({ link }) => link);
  const shown = await listSpan<{ paymentLinkId: string }>('/payment-links', links);
  expect(shown.map(({ paymentLinkId }) => paymentLinkId)).toEqual(expect.arrayContaining(toIds(links)));
  const payouts = all.map(({ payout }) => payout);
  expect(toIds(await listSpan<ListedResource>('/payouts', payouts))).toEqual(
    expect.arrayContaining(toIds(payouts)),
  );
  for (const { id } of payouts) {
    const [event] = await stack.database.query<{ id: string; created_at: Date }>(
      'select id, created_at from caudal.events where resource_id = $1',
      [id],
    );
    const at = { id: event?.id ?? '', createdAt: event?.created_at.toISOString() ?? '' };
    expect(toIds(await listSpan<ListedResource>('/events', [at]))).toContain(at.id);
    const transfers = await stack.database.query<{ id: string; at: Date }>(
      'select id, at from caudal.ledger_transfers where resource_id = $1',
      [id],
    );
    const entries = transfers.map((each) => ({ id: each.id, createdAt: each.at.toISOString() }));
    expect(toIds(await listSpan<ListedResource>('/ledger/entries', entries))).toEqual(
      expect.arrayContaining(toIds(entries)),
    );
  }
}

/** Expects the ledger transfers in ID order to follow the creation order of the payouts. */
async function expectTransfersInOrder(all: readonly CreatedResources[]): Promise<void> {
  const rows = await stack.database.query<{ step: string }>(
    `select cause_kind || ' ' || cause_id as step from caudal.ledger_transfers
     where cause_kind in ('payout_hold', 'payout') and resource_id = any ($1::uuid[]) order by id`,
    [all.map(({ payout }) => payout.id)],
  );
  expect(rows.map(({ step }) => step)).toEqual(
    all.flatMap(({ payout: { id } }) => [`payout_hold ${id}`, `payout ${id}`]),
  );
}

/** Event IDs of these payouts. */
async function readEventIds(all: readonly CreatedResources[]): Promise<string[]> {
  const events = await stack.database.query<{ id: string }>(
    'select id from caudal.events where resource_id = any ($1::uuid[])',
    [all.map(({ payout }) => payout.id)],
  );
  return toIds(events);
}

async function closeSubtotals(): Promise<void> {
  await stack.database.query("update caudal.deployment set shifted_at = shifted_at - interval '1 minute'");
  const inProcess: InProcess = await composeInProcess(stack.settings);
  try {
    while ((await rollSubtotals(inProcess.deps)) > 0);
  } finally {
    await inProcess.close();
  }
}

it.each(['10 minutes', '2 hours'])(
  'lists by time, entry order, subtotals and the event stream stay correct after the clock steps back by %s and after a failover',
  async (step) => {
    const all: CreatedResources[] = [];
    await createResources(running);
    // Far enough that no earlier step applies, and that a subtotal span is closed whose IDs the step leads
    // back into.
    await shift('6 hours');
    all.push(await createResources(running));
    await closeSubtotals();
    const streams = [await (await EventReader.open(running.url, stack.organization.apiKey)).waitForStart()];
    await shift(`-${step}`);
    for (let count = 0; count < 3; count += 1) all.push(await createResources(running));
    await expectListed(all.slice(1));
    await streams[0]?.waitForEvents(...(await readEventIds(all.slice(1))));
    const lastEventId = streams[0]?.ids.at(-1) ?? '';
    expect(new Set(streams[0]?.ids).size).toBe(streams[0]?.ids.length);
    running = await restart();
    streams.push(
      await (await EventReader.open(running.url, stack.organization.apiKey, { lastEventId })).waitForStart(),
    );
    for (let count = 0; count < 3; count += 1) all.push(await createResources(running));
    await expectListed(all.slice(1));
    await expectTransfersInOrder(all);
    await streams[1]?.waitForEvents(...(await readEventIds(all.slice(4))));
    await closeSubtotals();
    await running.driver.checkLedger();
    for (const stream of streams) stream.disconnect();
  },
);

it('a list by time uses the exact span again once the time of a step back has passed', async () => {
  await shift('6 hours');
  const [row] = await stack.database.query<{ ceiling: string; floor: string }>(
    `select caudal.id_ceiling(caudal.now()) as ceiling, caudal.uuid_floor(caudal.now() + interval '1 minute') as floor`,
  );
  expect(row?.ceiling).toBe(row?.floor);
});
