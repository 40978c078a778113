import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dev, startDev } from '../dev.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

let dev: Dev;
let receiver: Started | null = null;
beforeAll(async () => {
  dev = await startDev();
});
afterAll(async () => {
  receiver?.child.kill();
  await dev.stop();
});

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Waits until a line says it. */
  says(what: RegExp): Promise<string>;
}

function start(environment: Record<string, string>): Started {
  const child = spawn(process.execPath, ['receiver.ts'], {
    cwd: HERE,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    child,
    output: () => output,
    says: async (what) => {
      await expect.poll(() => output, { timeout: 20_000 }).toMatch(what);
      return what.exec(output)?.[1] ?? '';
    },
  };
}

describe('examples/webhook-receiver', () => {
  it('says what it needs', async () => {
    const { child, output } = start({});
    await new Promise((resolve) => child.once('exit', resolve));
    expect(child.exitCode).toBe(1);
    expect(output()).toMatch(/WEBHOOK_SECRET/);
  });

  it('verifies what Caudal sends with the published library, and refuses what it did not send', async () => {
    // The secret is known only once the endpoint is, and the endpoint needs the port: the first start finds a free one.
    const first = start({ WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', PORT: '0' });
    const url = await first.says(/listening on (http:\S+)/);
    first.child.kill();
    await new Promise((resolve) => first.child.once('exit', resolve));
    const { secret } = await dev.post<{ secret: string }>('/webhook-endpoints', { url });
    receiver = start({ WEBHOOK_SECRET: secret, PORT: new URL(url).port });
    await receiver.says(/listening on/);
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
    await receiver.says(/received payout\.confirmed salary-2001 CONFIRMED/);
    const { data } = await dev.get<{ data: { id: string }[] }>(`/events?resourceId=${id}`);
    expect(receiver.output()).toContain(data[0]?.id);
    await dev.post(`/events/${data[0]?.id}/replay`, {});
    await receiver.says(/again\s+payout\.confirmed salary-2001 CONFIRMED/);
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
