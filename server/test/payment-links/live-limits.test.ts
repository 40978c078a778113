import { afterAll, beforeAll, expect, it } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack();
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

async function startedLink(): Promise<string> {
  const link = await driver.link();
  await new PayerBrowser().post(`${link.paymentLinkUrl}/begin`, { method: 'BRE_B' });
  return link.paymentLinkUrl;
}

it('leaves live connections to other payers when one opens as many as it can', async () => {
  const [hoarder, other] = [await startedLink(), await startedLink()];
  const stop = new AbortController();
  const open = async (url: string) =>
    (await fetch(`${url}/live`, { signal: stop.signal, headers: { accept: 'text/event-stream' } })).status;
  try {
    const statuses = await Promise.all(Array.from({ length: 120 }, () => open(hoarder)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 503)).toHaveLength(70);
    expect(await open(other)).toBe(200);
    expect((await fetch(`${hoarder}/live?once=1`)).status).toBe(200);
  } finally {
    stop.abort();
  }
  const again = new AbortController();
  await until('the slots are free again', async () => {
    const { status } = await fetch(`${hoarder}/live`, { signal: again.signal });
    return status === 200;
  });
  again.abort();
});
