import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

const link = (changes: Record<string, unknown>) => ({
  amountType: 'FIXED',
  amountInCents: 4_980_000,
  reference: newReference(),
  callbackUrl: 'https://shop.example.com/thanks',
  ...changes,
});

describe('null for an optional request field', () => {
  it.each([
    ['callbackUrl', brebPayin({ callbackUrl: null })],
    ['inlineCustomer', brebPayin({ inlineCustomer: null })],
    ['pse on a Bre-B payin', brebPayin({ pse: null })],
    ['breb.keyString', brebPayin({ breb: { keyType: 'SINGLE_USE', keyString: null } })],
    ['breb on a PSE payin', psePayin({ breb: null })],
  ])('creates a payin as if %s were absent', async (_, body) => {
    expect((await stack.api.post('/payins', body)).status).toBe(201);
  });

  it('creates an open payment link when rail, inlineCustomer, pse and description are null', async () => {
    const body = link({ rail: null, inlineCustomer: null, pse: null, description: null, currency: null });
    const answer = await stack.api.post('/payment-links', body);
    expect(answer).toMatchObject({ status: 201, body: { rail: null, inlineCustomer: null } });
  });

  it('creates a webhook endpoint for all events when events, description and staticHeader are null', async () => {
    const body = {
      url: 'https://shop.example.com/hooks',
      events: null,
      description: null,
      staticHeader: null,
    };
    expect((await stack.api.post('/webhook-endpoints', body)).status).toBe(201);
  });

  it('counts as the same request as one without the field for an idempotency key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = brebPayin();
    const first = await stack.api.post('/payins', body, headers);
    const second = await stack.api.post('/payins', { ...body, callbackUrl: null, pse: null }, headers);
    expect(second).toMatchObject({ status: 201, body: { id: first.body['id'] } });
  });

  it('is rejected for a required field, together with all other errors', async () => {
    const answer = await stack.api.post(
      '/payins',
      brebPayin({ amountInCents: null, callbackUrl: null, pse: null }),
    );
    expect(toProblem(answer)).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['amountInCents invalid_type'],
    });
  });

  it('is rejected for an unknown field', async () => {
    const answer = await stack.api.post('/payins', brebPayin({ callbackURL: null }));
    expect(toProblem(answer)).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['callbackURL unknown_field'],
    });
  });

  it('is described in the OpenAPI document', async () => {
    const { body } = await stack.api.get('/openapi.json');
    const { CreatePayin } = (
      body['components'] as { schemas: Record<string, { properties: Record<string, unknown> }> }
    ).schemas;
    expect(CreatePayin?.properties['callbackUrl']).toMatchObject({ type: ['string', 'null'] });
    expect(CreatePayin?.properties['reference']).toMatchObject({ type: 'string' });
  });
});
