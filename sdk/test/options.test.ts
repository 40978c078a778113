import { describe, expect, it } from 'vitest';
import { Caudal } from '../src/index.ts';
import { API_KEY, faultyServer, json, PAYIN, thrownBy } from './faulty-server.ts';

const make = (options: object) => () => new Caudal({ apiKey: API_KEY, ...options });

describe('new Caudal', () => {
  it.each([
    [{ timeout: 5000 }, /^new Caudal has no option timeout; it has apiKey, /],
    [{ apiKey: undefined }, /needs an apiKey.*: apiKey is undefined$/],
    [{ apiKey: '' }, /needs an apiKey.*: apiKey is an empty string$/],
    [{ apiKey: null }, /: apiKey is null$/],
    [{ apiKey: undefined, accessToken: 5 }, /: accessToken is the number 5$/],
    [{ accessToken: 'cdl_test_at_x' }, /and not both$/],
    [{ timeoutMs: 0 }, /^timeoutMs must be an integer from 1 to 2147483647, not the number 0$/],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, /timeoutMs .* not the number Infinity$/],
    [{ timeoutMs: '5s' }, /timeoutMs .* not a string$/],
    [{ timeoutMs: 2 ** 31 }, /timeoutMs/],
    [{ maxRetries: -1 }, /^maxRetries must be an integer from 0 to 100, not the number -1$/],
    [{ maxRetries: 1.5 }, /maxRetries/],
    [{ maxRetries: '3' }, /maxRetries .* not a string$/],
    [{ language: 'pt' }, /^language must be 'en' or 'es', not a string$/],
    [{ fetch: {} }, /^fetch must be a function, not a value of type object$/],
    [{ hooks: () => undefined }, /^hooks takes an object with options, not a value of type function$/],
    [
      { hooks: { onrequest: () => undefined } },
      /^hooks has no option onrequest; it has onRequest, onResponse$/,
    ],
    [{ hooks: { onResponse: 'log' } }, /^hooks.onResponse must be a function, not a string$/],
    [{ baseUrl: '' }, /^baseUrl must be a string such as .*, not an empty string$/],
    [{ baseUrl: null }, /^baseUrl must be a string such as .*, not null$/],
    [{ baseUrl: new URL('https://x') }, /^baseUrl must be a string/],
    [{ baseUrl: 'payments.example.com' }, /^baseUrl "payments.example.com" must start with https:\/\//],
    [{ baseUrl: 'localhost:8080' }, /must start with https:\/\//],
    [{ baseUrl: 'ftp://x' }, /must start with https:\/\//],
    [{ baseUrl: ' https://x' }, /must start with https:\/\//],
    [{ baseUrl: 'https://' }, /must be a valid URL/],
    [{ baseUrl: 'https://x:port' }, /must be a valid URL/],
    [{ baseUrl: 'https://x?y=1' }, /must not contain a query or fragment/],
    [{ baseUrl: 'https://x?' }, /must not contain a query or fragment/],
    [{ baseUrl: 'https://x#y' }, /must not contain a query or fragment/],
    [{ baseUrl: 'https://user:kept-secret@x' }, /must not contain a user name or password/],
    [{ apiKey: 'cdl_live_x', baseUrl: 'http://x' }, /must start with https:\/\/ for a live credential/],
  ])('throws a TypeError that names the mistake in %o', (options, message) => {
    expect(make(options)).toThrow(TypeError);
    expect(make(options)).toThrow(message);
    expect(make(options)).not.toThrow(/kept-secret/);
  });

  it('accepts undefined for every optional option, and the extremes', () => {
    const none = { baseUrl: undefined, timeoutMs: undefined, maxRetries: undefined, hooks: undefined };
    expect(make({ ...none, language: undefined, fetch: undefined })).not.toThrow();
    expect(make({ timeoutMs: 2 ** 31 - 1, maxRetries: 0, hooks: {}, language: 'es' })).not.toThrow();
    expect(make({ baseUrl: 'HTTPS://payments.example.com/caudal///' })).not.toThrow();
  });
});

describe('a call', () => {
  it.each([
    [{ idempotency_key: 'order-1001' }, /^payins.create has no option idempotency_key; it has signal, /],
    ['order-1001', /^payins.create takes an object with options, not a string$/],
    [null, /^payins.create takes an object with options, not null$/],
    [{ timeoutMs: 0 }, /^timeoutMs must be/],
    [{ maxRetries: Number.NaN }, /^maxRetries must be/],
    [{ signal: new AbortController() }, /^signal must be an AbortSignal, not a value of type object$/],
    [{ headers: [['a', 'b']] }, /^headers must be a plain object, not an array$/],
    [{ headers: { 'x-trace': undefined } }, /^headers.x-trace must be a string, not undefined$/],
    [{ headers: { 'x-token': 'kept-secret\n' } }, /^headers.x-token contains a line break/],
    [{ headers: { 'x token': 'x' } }, /^headers has a name with invalid characters: "x token"$/],
    [{ headers: { 'Idempotency-Key': 'order-1' } }, /: use the option idempotencyKey$/],
    [{ headers: { 'X-API-Key': 'kept-secret' } }, /: use the option apiKey of new Caudal$/],
    [{ idempotencyKey: 1001 }, /^idempotencyKey must be a string, not the number 1001$/],
    [{ idempotencyKey: null }, /^idempotencyKey must be a string, not null$/],
  ])('is rejected before it is sent with the options %o', async (options, message) => {
    const server = await faultyServer(json({ id: 'p1' }, 201));
    const error = await thrownBy(server.client().payins.create(PAYIN, options as object));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toMatch(/kept-secret/);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['payins.waitFor', (caudal: Caudal) => caudal.payins.waitFor('p1', { timeout: 5 } as object)],
    ['events.stream', (caudal: Caudal) => caudal.events.stream({ timeoutMs: 5 } as object).next()],
    ['payins.list', (caudal: Caudal) => caudal.payins.list({}, { pageSize: 5 } as object)],
  ])('of %s rejects an unknown option', async (called, call) => {
    const server = await faultyServer(json({}));
    expect(((await thrownBy(call(server.client()))) as Error).message).toMatch(`${called} has no option`);
    expect(server.requests).toEqual([]);
  });
});
