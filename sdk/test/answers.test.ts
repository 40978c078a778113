import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ApiError, Caudal, UnexpectedAnswerError } from '../src/index.ts';
import { API_KEY, cut, faultyServer, json, PAYIN, problem, thrownBy } from './faulty-server.ts';

describe('ApiError', () => {
  it('contains the complete problem and narrows by its code', async () => {
    const server = await faultyServer(problem(409, 'reference_taken', {}, { existingId: 'p0' }));
    const error = await thrownBy(server.client().payins.create(PAYIN));
    if (!(error instanceof ApiError) || error.code !== 'reference_taken') throw error;
    const existingId: string = error.existingId;
    expect(existingId).toBe('p0');
    expect(error).toMatchObject({
      name: 'ApiError',
      operation: 'payins.create',
      status: 409,
      title: 'Title of reference_taken',
      detail: 'Detail of reference_taken.',
      requestId: 'req_1',
      type: 'https://api.example.com/docs/errors/reference_taken',
      errors: [],
    });
    expect(error.problem['instance']).toBe('/somewhere');
    expect(error.message).toBe(
      'payins.create: Title of reference_taken (409 reference_taken). Detail of reference_taken. [request req_1]',
    );
  });

  it('lists invalid fields in its message', async () => {
    const errors = [
      { path: 'inlineCustomer.phone', code: 'invalid_format', message: 'Is not a phone number.' },
    ];
    const server = await faultyServer(problem(400, 'invalid_request', {}, { errors }));
    const error = await thrownBy(server.client().payins.create(PAYIN));
    expect(error).toMatchObject({ errors });
    expect((error as Error).message).toContain('\n  inlineCustomer.phone: Is not a phone number.');
  });

  it('is not overwritten by problem members with names of Error', async () => {
    const server = await faultyServer(
      problem(400, 'invalid_request', {}, { message: 'x', stack: 'y', attempts: 9 }),
    );
    const error = await thrownBy(server.client().payins.create(PAYIN));
    expect(error).toMatchObject({ attempts: 1 });
    expect((error as Error).message).toContain('Title of invalid_request');
  });
});

describe('a response that is not from the API', () => {
  it('throws UnexpectedAnswerError with status and excerpt for a proxy page', async () => {
    const server = await faultyServer((response) => {
      response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' }).end('<html>nginx</html>');
    });
    const error = await thrownBy(server.client().balance.get());
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 404, excerpt: '<html>nginx</html>', attempts: 1 });
    expect((error as Error).message).toContain('check baseUrl');
  });

  it('leaves the outcome of a write unknown for status 502', async () => {
    const server = await faultyServer((response) => void response.writeHead(502).end('Bad Gateway'));
    const error = await thrownBy(server.client({ maxRetries: 0 }).payouts.cancel('o1'));
    expect(error).toMatchObject({ name: 'UnexpectedAnswerError', status: 502, outcomeUnknown: true });
  });

  it('does not follow a redirect, which would leak the API key', async () => {
    const elsewhere = await faultyServer(json({}));
    const server = await faultyServer((response) => {
      response.writeHead(307, { location: `${elsewhere.url}/balance` }).end();
    });
    const error = await thrownBy(server.client({ maxRetries: 0 }).balance.get());
    expect((error as Error).message).toContain(`redirected (307) to ${elsewhere.url}/balance`);
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('stops reading a body that is too large', async () => {
    let written = 0;
    const server = await faultyServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const megabyte = 'a'.repeat(1_048_576);
      const more = () => {
        while (!response.destroyed && written < 500) {
          written += 1;
          if (!response.write(megabyte)) return void response.once('drain', more);
        }
      };
      more();
    });
    const error = await thrownBy(server.client({ maxRetries: 0 }).balance.get());
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect((error as Error).message).toContain('larger than any response of this API');
    expect(written).toBeLessThan(200);
  });
});

describe('a request', () => {
  it('has the path and query with dates and numbers in API format', async () => {
    const server = await faultyServer(json({ data: [], pageInfo: {} }));
    await server.client().payins.list({
      pageSize: 5,
      reference: 'a&b=c',
      createdFrom: new Date(0),
      status: undefined,
    });
    expect(server.requests[0]?.path).toBe(
      '/payins?pageSize=5&reference=a%26b%3Dc&createdFrom=1970-01-01T00%3A00%3A00.000Z',
    );
    await server.client({ baseUrl: `${server.url}/caudal/` }).payouts.get('@TEST/OK?');
    expect(server.requests[1]?.path).toBe('/caudal/payouts/%40TEST%2FOK%3F');
  });

  it('has keys, names and documents of people in the body, never in the URL', async () => {
    const server = await faultyServer(json({ data: [], pageInfo: {} }));
    const expected = { name: 'Ana Rojas', documentNumber: '1020304050' };
    await server.client().breb.lookUp('3001234567', expected);
    await server.client().payouts.list({ keyString: '3001234567', pageSize: 5 });
    expect(server.requests.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
      ['POST', '/breb/keys/lookup', { keyString: '3001234567', ...expected }],
      ['POST', '/payouts/search', { keyString: '3001234567', pageSize: 5 }],
    ]);
  });

  it('has API key, language, client and caller headers', async () => {
    const server = await faultyServer(json({}));
    await server.client({ language: 'es' }).balance.get({ headers: { 'X-Trace': 't1' } });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': API_KEY,
      'accept-language': 'es',
      'x-trace': 't1',
      'x-caudal-client': expect.stringMatching(/^sdk-js\/\d+\.\d+\.\d+ Node\.js\/\d+/) as string,
    });
  });

  it('sends an access token as a bearer token', async () => {
    const server = await faultyServer(json({}));
    await new Caudal({ accessToken: 'cdl_test_at_x', baseUrl: server.url }).balance.get();
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer cdl_test_at_x' });
    expect(server.requests[0]?.headers['x-api-key']).toBeUndefined();
  });

  it.each(['', '.', '..', undefined])(
    'is rejected for the id %o, which would address another path',
    async (id) => {
      const server = await faultyServer(json({}));
      expect(await thrownBy(server.client().payins.get(id as string))).toBeInstanceOf(TypeError);
      expect(server.requests).toHaveLength(0);
    },
  );

  it.each(['', 'a\nb', 'ñ', 'x'.repeat(256), ' a'])(
    'is rejected with the invalid idempotency key %o',
    async (key) => {
      const server = await faultyServer(json({}, 201));
      const error = await thrownBy(server.client().payins.create(PAYIN, { idempotencyKey: key }));
      expect(error).toBeInstanceOf(TypeError);
      expect(server.requests).toHaveLength(0);
    },
  );

  it('uses a custom fetch', async () => {
    const urls: string[] = [];
    const caudal = new Caudal({
      apiKey: API_KEY,
      baseUrl: 'https://payments.example.com',
      fetch: (url, request) => {
        urls.push(`${request.method} ${url}`);
        return Promise.resolve(new Response('{"currency":"COP"}', { status: 200 }));
      },
    });
    expect((await caudal.balance.get()).currency).toBe('COP');
    expect(urls).toEqual(['GET https://payments.example.com/balance']);
  });
});

describe('the API key', () => {
  it('does not appear in the printed client, its JSON or any error', async () => {
    const server = await faultyServer(cut, problem(401, 'unauthorized'));
    const caudal = server.client({ maxRetries: 0 });
    const printed = [
      inspect(caudal, { depth: 10, showHidden: true }),
      JSON.stringify(caudal),
      inspect(await thrownBy(caudal.balance.get()), { depth: 10, showHidden: true }),
      inspect(await thrownBy(caudal.balance.get()), { depth: 10, showHidden: true }),
      inspect(await thrownBy(caudal.accessTokens.create()), { depth: 10, showHidden: true }),
    ];
    for (const text of printed) expect(text).not.toContain('kept-secret');
  });

  it.each(['cdl_test_kept-secret\n', 'cdl_test_kept-secret ñ', '', undefined])(
    'is rejected without being printed when invalid (%o)',
    (apiKey) => {
      const make = () => new Caudal({ apiKey, baseUrl: 'http://127.0.0.1:1' });
      expect(make).toThrow(TypeError);
      expect(make).not.toThrow(/kept-secret/);
    },
  );

  it.each([
    [undefined, /needs an object: new Caudal\(\{/],
    ['cdl_test_x', /needs an object: new Caudal\(\{/],
    [{ apikey: 'cdl_test_x' }, /no option apikey; it has apiKey, /],
    [{ apiKey: 5 }, /needs an apiKey/],
  ])('rejects the options %o with a sentence that names the mistake', (options, message) => {
    expect(() => new Caudal(options as object)).toThrow(message);
  });

  it('needs a baseUrl when it is not a test key', () => {
    expect(() => new Caudal({ apiKey: 'cdl_live_x' })).toThrow(/baseUrl/);
    expect(() => new Caudal({ apiKey: 'x' })).toThrow(/baseUrl/);
  });

  it('requires https when live, except on loopback', () => {
    const at = (baseUrl: string) => () => new Caudal({ apiKey: 'cdl_live_x', baseUrl });
    expect(at('http://payments.example.com')).toThrow(/https/);
    expect(at('http://127.0.0.1.example.com')).toThrow(/https/);
    for (const baseUrl of ['https://payments.example.com', 'http://127.0.0.1:8080', 'http://localhost'])
      expect(at(baseUrl)).not.toThrow();
  });

  it.each(['payments.example.com', 'ftp://x', 'https://x?y=1', 'https://user@x'])(
    'is rejected with the invalid baseUrl %s',
    (baseUrl) => expect(() => new Caudal({ apiKey: API_KEY, baseUrl })).toThrow(/baseUrl/),
  );
});
