import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/free-port.ts';
import { type Dev, startDev } from '../dev.ts';
import { type Program, startProgram } from '../program.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

let dev: Dev;
let receiver: Program | null = null;
beforeAll(async () => {
  dev = await startDev();
});
afterAll(async () => {
  await receiver?.stop();
  await dev.stop();
});

function start(environment: Record<string, string>): Program {
  return startProgram(HERE, 'receiver.ts', environment);
}

describe('examples/webhook-receiver', () => {
  it('exits with an error when WEBHOOK_SECRET is missing', async () => {
    const { exited, output } = start({});
    expect(await exited).toBe(1);
    expect(output()).toMatch(/WEBHOOK_SECRET/);
  });

  it('accepts events from Caudal and rejects forged ones', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { secret } = await dev.post<{ secret: string }>('/webhook-endpoints', { url });
    receiver = start({ WEBHOOK_SECRET: secret, PORT: String(port) });
    await receiver.printed(/listening on/);
    const { id } = await dev.post<{ id: string }>('/payouts', {
      amountInCents: 12_500_000,
      currency: 'COP',
      rail: 'BRE_B',
      reference: 'salary-2001',
      inlineCustomer: {
        name: 'Janeth Smith',
        idType: 'CO_CC',
        idNumber: '1000000099',
        phone: '+573001234567',
        email: 'janeth@example.com',
      },
      breb: { keyString: '@TESTOK' },
    });
    await receiver.printed(/received payout\.confirmed salary-2001 CONFIRMED/);
    const { data } = await dev.get<{ data: { id: string }[] }>(`/events?resourceId=${id}`);
    expect(receiver.output()).toContain(data[0]?.id);
    await dev.post(`/events/${data[0]?.id}/replay`, {});
    await receiver.printed(/duplicate payout\.confirmed salary-2001 CONFIRMED/);
    const forged = await fetch(url, {
      method: 'POST',
      headers: {
        'webhook-id': 'x',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,AAAA',
      },
      body: '{}',
    });
    expect(forged.status).toBe(401);
  });
});
