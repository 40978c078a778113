import { spawn } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../scripts/stack/free-port.ts';
import { until } from '../../server/test/harness/until.ts';
import { webhooks } from '../src/index.ts';

const EXAMPLES = fileURLToPath(new URL('../examples/webhooks/', import.meta.url));
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

type Send = (body: string, headers: Record<string, string>) => Promise<number>;

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

// Express and NestJS are no dependencies of this repository: the package matrix installs and runs them.
describe('the webhook examples', () => {
  it('for Fastify processes a genuine delivery once and rejects forged ones', async () => {
    const port = await freePort();
    const program = startExample('fastify.ts', { CAUDAL_WEBHOOK_SECRET: SECRET, PORT: String(port) });
    let id: string;
    try {
      const url = `http://localhost:${port}/webhooks`;
      await until('the example listens', async () => (await fetch(url)).status > 0);
      const send: Send = async (body, headers) =>
        (await fetch(url, { method: 'POST', body, headers })).status;
      id = await expectSafe(send);
    } finally {
      await program.stop();
    }
    // Complete only after its end.
    expect(program.output()).toBe(`${JSON.stringify({ id, event: 'payin.confirmed' })}\n`);
  });

  it('for Fastify does not start without a secret', async () => {
    const program = startExample('fastify.ts', { PORT: '0' });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain('TypeError: the webhook secret is missing');
  });

  it('for Next.js processes a genuine delivery once and rejects forged ones', async () => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const { POST } = (await import(pathToFileURL(`${EXAMPLES}nextjs.ts`).href)) as {
      readonly POST: (request: Request) => Promise<Response>;
    };
    const send: Send = async (body, headers) =>
      (await POST(new Request('https://shop.example.com/webhooks', { method: 'POST', body, headers })))
        .status;
    await expect(send('', {})).rejects.toThrow('the webhook secret is missing');
    vi.stubEnv('CAUDAL_WEBHOOK_SECRET', SECRET);
    const id = await expectSafe(send);
    expect(printed.mock.calls).toEqual([[JSON.stringify({ id, event: 'payin.confirmed' })]]);
  });
});

/** @returns the id of the genuine event */
async function expectSafe(send: Send): Promise<string> {
  const event = 'payin.confirmed';
  const { body, headers } = await webhooks.testDelivery({ event, secret: SECRET });
  expect(await send(body, headers)).toBe(204);
  expect(await send(body, headers)).toBe(204);
  expect(await send(body.replace('order', 'ordre'), headers)).toBe(400);
  const forged = await webhooks.testDelivery({ event, secret: `whsec_${'A'.repeat(32)}` });
  expect(await send(forged.body, forged.headers)).toBe(400);
  const at = new Date(Date.now() - 360_000);
  const old = await webhooks.testDelivery({ event, secret: SECRET, at });
  expect(await send(old.body, old.headers)).toBe(400);
  return headers['webhook-id'];
}

function startExample(name: string, settings: Record<string, string>) {
  const child = spawn(process.execPath, ['--no-warnings', `${EXAMPLES}${name}`], {
    env: { PATH: process.env['PATH'], ...settings },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill();
    await exited;
  };
  return { output: () => output, exited, stop };
}
