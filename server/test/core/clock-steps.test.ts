import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { rollSubtotals } from '../../src/flows/roll-subtotals.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { openLink } from '../harness/checkout-desk.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { PayoutDesk } from '../harness/payout-desk.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { EventReader } from '../webhooks/event-reader.ts';

vi.setConfig({ testTimeout: 120_000 });

interface Listed {
  readonly id: string;
  readonly createdAt: string;
}

/** The processes of a moment: those of the stack, or those that were started in their place. */
interface Running {
  readonly url: string;
  readonly api: ApiClient;
  readonly desk: PayoutDesk;
}

/** One of everything that a list shows, in the order in which it was made. */
interface Made {
  readonly payin: Listed;
  readonly link: Listed;
  readonly payout: Listed;
}

type Process = Child & { readonly opsUrl: string };

let stack: Stack;
let running: Running;
let children: Process[];
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_DUE_EVERY_MS: '20' } });
  running = { url: stack.apis[0]?.url ?? '', api: stack.api, desk: new PayoutDesk(stack) };
  children = [...stack.apis, ...stack.workers];
  await running.desk.fund();
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()));
  await stack?.stop();
});

/**
 * Shifts the database's time alone: rails and machines keep theirs. Every process has sampled the shifted time when it
 * returns: until then an id of one process may be hours before an id of another.
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

async function made({ api, desk }: Running): Promise<Made> {
  const created = async (path: string, body: object) => {
    const answer = await api.post<Listed & { readonly paymentLinkId?: string }>(path, body);
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const payin = await created('/payins', brebPayin());
  const { paymentLinkId = '' } = await created('/payment-links', openLink());
  const link = (await api.get<{ createdAt: string }>(`/payment-links/${paymentLinkId}`)).body;
  const { payout } = await desk.create();
  await desk.reaches(payout.id, 'CONFIRMED');
  return { payin, link: { id: paymentLinkId, createdAt: link.createdAt }, payout };
}

/** As after a failover of everything: new processes that never heard of a time later than the database's. */
async function restarted(): Promise<Running> {
  await Promise.all(children.map((child) => child.stop()));
  const api = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0' });
  const worker = await startServer('worker', stack.settings);
  children = [api, worker].map((child) => ({
    ...child,
    opsUrl: `http://127.0.0.1:${String(child.ready['opsPort'])}`,
  }));
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  const client = stack.api.at(url);
  const desk = new PayoutDesk({ ...stack, api: client });
  await desk.simulator.tell([url]);
  return { url, api: client, desk };
}

/** What a list shows of the span in which these were made, and no more than a millisecond around it. */
async function listed<Row>(path: string, rows: readonly Listed[]): Promise<Row[]> {
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

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function listsHold(all: readonly Made[]): Promise<void> {
  const payins = all.map(({ payin }) => payin);
  expect(idsOf(await listed<Listed>('/payins', payins))).toEqual(expect.arrayContaining(idsOf(payins)));
  const links = all.map(({ link }) => link);
  const shown = await listed<{ paymentLinkId: string }>('/payment-links', links);
  expect(shown.map(({ paymentLinkId }) => paymentLinkId)).toEqual(expect.arrayContaining(idsOf(links)));
  const payouts = all.map(({ payout }) => payout);
  expect(idsOf(await listed<Listed>('/payouts', payouts))).toEqual(expect.arrayContaining(idsOf(payouts)));
  for (const { id } of payouts) {
    const [event] = await stack.database.query<{ id: string; created_at: Date }>(
      'select id, created_at from caudal.events where resource_id = $1',
      [id],
    );
    const at = { id: event?.id ?? '', createdAt: event?.created_at.toISOString() ?? '' };
    expect(idsOf(await listed<Listed>('/events', [at]))).toContain(at.id);
    const transfers = await stack.database.query<{ id: string; at: Date }>(
      'select id, at from caudal.ledger_transfers where resource_id = $1',
      [id],
    );
    const entries = transfers.map((each) => ({ id: each.id, createdAt: each.at.toISOString() }));
    expect(idsOf(await listed<Listed>('/ledger/entries', entries))).toEqual(
      expect.arrayContaining(idsOf(entries)),
    );
  }
}

/** Holds and payouts in the order of their ids are those of the payouts, in the order in which they were made. */
async function booksAreInOrder(all: readonly Made[]): Promise<void> {
  const rows = await stack.database.query<{ step: string }>(
    `select cause_kind || ' ' || cause_id as step from caudal.ledger_transfers
     where cause_kind in ('payout_hold', 'payout') and resource_id = any ($1::uuid[]) order by id`,
    [all.map(({ payout }) => payout.id)],
  );
  expect(rows.map(({ step }) => step)).toEqual(
    all.flatMap(({ payout: { id } }) => [`payout_hold ${id}`, `payout ${id}`]),
  );
}

/** Ids of the events of these payouts. */
async function eventsOf(all: readonly Made[]): Promise<string[]> {
  const events = await stack.database.query<{ id: string }>(
    'select id from caudal.events where resource_id = any ($1::uuid[])',
    [all.map(({ payout }) => payout.id)],
  );
  return idsOf(events);
}

async function closeSubtotals(): Promise<void> {
  await stack.database.query("update caudal.deployment set shifted_at = shifted_at - interval '1 minute'");
  const inside: InProcess = await composeInProcess(stack.settings);
  try {
    while ((await rollSubtotals(inside.deps)) > 0);
  } finally {
    await inside.close();
  }
}

it.each(['10 minutes', '2 hours'])(
  'lists by time, the order of entries, subtotals and the event stream hold after the clock goes back by %s, and after a failover to it',
  async (step) => {
    const all: Made[] = [];
    await made(running);
    // So far that nothing of an earlier step is in force, and a span is closed whose ids the step leads back into.
    await shift('6 hours');
    all.push(await made(running));
    await closeSubtotals();
    const streams = [await (await EventReader.open(running.url, stack.organization.apiKey)).follows()];
    await shift(`-${step}`);
    for (let count = 0; count < 3; count += 1) all.push(await made(running));
    await listsHold(all.slice(1));
    await streams[0]?.receives(...(await eventsOf(all.slice(1))));
    const lastEventId = streams[0]?.ids.at(-1) ?? '';
    expect(new Set(streams[0]?.ids).size).toBe(streams[0]?.ids.length);
    running = await restarted();
    streams.push(
      await (await EventReader.open(running.url, stack.organization.apiKey, { lastEventId })).follows(),
    );
    for (let count = 0; count < 3; count += 1) all.push(await made(running));
    await listsHold(all.slice(1));
    await booksAreInOrder(all);
    await streams[1]?.receives(...(await eventsOf(all.slice(4))));
    await closeSubtotals();
    await running.desk.booksAreWhole();
    for (const stream of streams) stream.leave();
  },
);

it('a list by time is narrow again once the time of a step back has passed', async () => {
  await shift('6 hours');
  const [row] = await stack.database.query<{ ceiling: string; floor: string }>(
    `select caudal.id_ceiling(caudal.now()) as ceiling, caudal.uuid_floor(caudal.now() + interval '1 minute') as floor`,
  );
  expect(row?.ceiling).toBe(row?.floor);
});
