import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/load.ts';
import type { Stage } from '../stage/stage.ts';

const CONNECTIONS = 64;
const PAYMENTS_PER_CALL = 1000;

let made = 0;

/** Creates payins distributed over organizations, and waits until the rail knows all their keys. */
export async function createPayins(stage: Stage, apiKeys: readonly string[], count: number): Promise<void> {
  const run = `${process.pid}-${made++}`;
  let left = count;
  await runLoad({
    ports: stage.ports,
    connections: CONNECTIONS,
    seconds: 600,
    warmUpSeconds: 0,
    request: (index) => {
      if (left <= 0) return null;
      left -= 1;
      const body = `{"amountInCents":4980000,"currency":"COP","rail":"BRE_B","reference":"confirm-${run}-${index}","breb":{"keyType":"SINGLE_USE"}}`;
      return `POST /payins HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKeys[index % apiKeys.length]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    },
  });
  for (;;) {
    const [row] = await stage.query<{ waiting: string }>(
      'select count(*) as waiting from caudal.breb_keys where register_due_at is not null',
    );
    if (row?.waiting === '0') return;
    await sleep(200);
  }
}

export async function payableKeys(stage: Stage, organizationIds: readonly string[]): Promise<string[]> {
  const rows = await stage.query<{ breb_key: string }>(
    `select breb_key from caudal.payins where status = 'PROCESSING' and reference like 'confirm-%'
     and organization_id in (${organizationIds.map((id) => `'${id}'`).join(', ')}) order by id`,
  );
  return rows.map((row) => row.breb_key);
}

export async function pay(stage: Stage, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += PAYMENTS_PER_CALL) {
    const payments = keys.slice(from, from + PAYMENTS_PER_CALL).map((key) => ({ key }));
    const answer = await fetch(`${stage.simulatorUrl}/control/keys/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payments }),
    });
    if (answer.status !== 200) throw new Error(`the simulator answered ${answer.status}`);
  }
}

/** Number of payins and payouts that have reached a final state. */
export async function finalEvents(stage: Stage): Promise<number> {
  const [row] = await stage.query<{ count: string }>('select count(*) as count from caudal.final_events');
  return Number(row?.count);
}
