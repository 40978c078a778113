import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SinkRequest } from '../harness/webhook-sink.ts';
import {
  type CreatedEndpoint,
  type EndpointWithSecret,
  expectStatus,
  FAILS_FOR_LONG,
  type Merchant,
  WebhookStage,
} from './webhook-stage.ts';

const HOUR = 3_600_000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

async function rotate(merchant: Merchant, { id }: { readonly id: string }): Promise<string> {
  const answer = await merchant.api.request<EndpointWithSecret>(
    'POST',
    `/webhook-endpoints/${id}/rotate-secret`,
  );
  return expectStatus(answer, 200).secret;
}

/** Sends a test event and returns the names of the secrets that verify it. */
async function findSigners(
  merchant: Merchant,
  endpoint: CreatedEndpoint,
  secrets: Readonly<Record<string, string>>,
): Promise<string[]> {
  const request = await stage.sink.waitForEvent(endpoint.path, await merchant.test(endpoint));
  return Object.keys(secrets).filter((name) => accepts(secrets[name] ?? '', request));
}

function accepts(secret: string, { headers, body }: SinkRequest): boolean {
  try {
    new Webhook(secret).verify(body.toString('utf8'), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

describe('a rotated secret', () => {
  it('signs together with the new one for a day', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const secrets = { old: endpoint.secret, fresh: '' };
    expect(await findSigners(merchant, endpoint, secrets)).toEqual(['old']);
    secrets.fresh = await rotate(merchant, endpoint);
    expect(secrets.fresh).not.toBe(secrets.old);
    expect(await findSigners(merchant, endpoint, secrets)).toEqual(['old', 'fresh']);
    await stage.stack.shiftTime(23.9 * HOUR);
    expect(await findSigners(merchant, endpoint, secrets)).toEqual(['old', 'fresh']);
    await stage.stack.shiftTime(0.2 * HOUR);
    expect(await findSigners(merchant, endpoint, secrets)).toEqual(['fresh']);
  });

  it('keeps the last three secrets when rotated repeatedly within a day', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint();
    const secrets = {
      first: endpoint.secret,
      second: await rotate(merchant, endpoint),
      third: await rotate(merchant, endpoint),
    };
    expect(await findSigners(merchant, endpoint, secrets)).toEqual(['first', 'second', 'third']);
    const fourth = await rotate(merchant, endpoint);
    expect(await findSigners(merchant, endpoint, { ...secrets, fourth })).toEqual([
      'second',
      'third',
      'fourth',
    ]);
    await stage.stack.shiftTime(24.1 * HOUR);
    expect(await findSigners(merchant, endpoint, { ...secrets, fourth })).toEqual(['fourth']);
  });

  it('does not sign a later retry: it is signed with the secrets and the time of that attempt', async () => {
    const merchant = await stage.merchant();
    const endpoint = await merchant.endpoint({}, FAILS_FOR_LONG, {});
    const eventId = await merchant.declinePayout();
    await merchant.waitForDelivery(eventId, endpoint, 'PENDING', 1);
    const secret = await rotate(merchant, endpoint);
    await stage.stack.shiftTime(25 * HOUR);
    await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED', 2);
    const [first, second] = stage.sink.requestsTo(endpoint.path);
    if (!first || !second) throw new Error('expected two requests');
    expect([first.id, second.id]).toEqual([eventId, eventId]);
    expect([accepts(endpoint.secret, first), accepts(secret, first)]).toEqual([true, false]);
    expect([accepts(endpoint.secret, second), accepts(secret, second)]).toEqual([false, true]);
    expect(second.body.equals(first.body)).toBe(true);
  });

  it('does not sign for another endpoint', async () => {
    const merchant = await stage.merchant();
    const [mine, other] = [await merchant.endpoint(), await merchant.endpoint()];
    expect(await findSigners(merchant, mine, { mine: mine.secret, other: other.secret })).toEqual(['mine']);
  });
});
