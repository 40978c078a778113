import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, type Merchant, WebhookStage } from './webhook-stage.ts';

/** After the first failed turn, the second, … in seconds. */
const RESTS = [1, 2, 4, 8, 16, 32, 60, 60];
const WAITING = 60;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** An endpoint that answers so, with many deliveries in its line before the first is tried. */
async function busyEndpoint(status: number) {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint({}, { status });
  await merchant.change(endpoint, { status: 'DISABLED' });
  const ids = await merchant.record(WAITING);
  await merchant.dispatched();
  await merchant.change(endpoint, { status: 'ENABLED' });
  return { merchant, endpoint, ids };
}

interface Turn {
  readonly at: Date;
  readonly attempts: number;
}

/** What was written down together was sent in one turn. */
function turnsOf({ id }: MadeEndpoint): Promise<Turn[]> {
  return stage.query<Turn>(
    'select at, count(*)::int as attempts from caudal.webhook_attempts where endpoint_id = $1 group by at order by at',
    [id],
  );
}

/** Business time goes on to when the line is looked at next, until it has had so many turns. */
async function takeTurns(endpoint: MadeEndpoint, count: number): Promise<Turn[]> {
  for (;;) {
    const turns = await turnsOf(endpoint);
    if (turns.length >= count) return turns.slice(0, count);
    const { seconds } = await until('the line rests', async () => {
      const [line] = await stage.query<{ seconds: number }>(
        `select greatest(0, extract(epoch from due_at - caudal.now()))::float8 as seconds from caudal.webhook_queues
         where endpoint_id = $1 and leased_until is null and failures >= $2 and due_at is not null`,
        [endpoint.id, turns.length],
      );
      return line;
    });
    // Never further than it is due: were it looked at before, the next rest begins from there.
    await stage.stack.shiftTime(Math.ceil(seconds * 1000));
    await until('it was tried', async () => (await turnsOf(endpoint)).length > turns.length);
  }
}

async function delivered({ id }: Merchant): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    "select count(*)::int as count from caudal.webhook_deliveries where organization_id = $1 and status = 'DELIVERED'",
    [id],
  );
  return row?.count ?? 0;
}

describe('an endpoint that answers 500 with much in its line', () => {
  let merchant: Merchant;
  let endpoint: MadeEndpoint;
  let ids: string[];
  let turns: Turn[];
  beforeAll(async () => {
    ({ merchant, endpoint, ids } = await busyEndpoint(500));
    turns = await takeTurns(endpoint, RESTS.length + 1);
  });

  it('is sent no more in a turn once one has failed: ten at most were begun by then', () => {
    expect(turns[0]?.attempts).toBeGreaterThanOrEqual(1);
    expect(turns[0]?.attempts).toBeLessThanOrEqual(10);
  });

  it('is then tried with one at a time', () => {
    expect(turns.slice(1).map(({ attempts }) => attempts)).toEqual(RESTS.map(() => 1));
    expect(stage.sink.at(endpoint.path).length).toBe(turns.reduce((sum, { attempts }) => sum + attempts, 0));
  });

  it('has a rest after each, twice as long as the one before and a minute at most', () => {
    const gaps = turns
      .slice(1)
      .map(({ at }, index) => (at.getTime() - (turns[index]?.at.getTime() ?? 0)) / 1000);
    for (const [index, rest] of RESTS.entries())
      expect(gaps[index], `after ${index + 1}`).toBeGreaterThanOrEqual(rest);
    // The short ones may be over before this test has seen them; what it adds to a long one is a moment.
    for (const [index, rest] of [...RESTS.entries()].slice(4))
      expect(gaps[index], `after ${index + 1}`).toBeLessThan(rest * 1.5);
  });

  it('has all that was never tried as soon as one was received, without any rest', async () => {
    const tried = new Set(stage.sink.ids(endpoint.path));
    const fresh = ids.filter((id) => !tried.has(id));
    expect(fresh.length).toBeGreaterThan(WAITING / 2);
    stage.sink.answer(endpoint.path, {});
    await stage.stack.shiftTime(60_000);
    await until('it has them', async () => (await delivered(merchant)) >= fresh.length, 5000);
    expect(stage.sink.ids(endpoint.path)).toEqual([...ids].sort());
    const [line] = await stage.query(
      'select failures, failing_since from caudal.webhook_queues where endpoint_id = $1',
      [endpoint.id],
    );
    expect(line).toEqual({ failures: 0, failing_since: null });
  });
});
