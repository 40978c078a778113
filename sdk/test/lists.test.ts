import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { faultyServer, json, problem, type ReceivedRequest, thrownBy } from './faulty-server.ts';

/** Seven items in pages of three. */
function pages(response: ServerResponse, { path, body }: ReceivedRequest): void {
  const { searchParams } = new URL(path, 'http://x');
  const inBody = body === '' ? null : (JSON.parse(body) as { cursor?: string }).cursor;
  const at = Number(inBody ?? searchParams.get('cursor') ?? 0);
  const data = [0, 1, 2].map((each) => ({ id: String(at + each) })).filter(({ id }) => Number(id) < 7);
  const pageInfo = {
    hasNext: at + 3 < 7,
    hasPrevious: at > 0,
    nextCursor: at + 3 < 7 ? String(at + 3) : null,
    previousCursor: at > 0 ? String(at - 3) : null,
  };
  json({ data, pageInfo })(response, { method: '', path, headers: {}, body: '' });
}

it('A list sends no request until it is awaited or iterated, and then only one', async () => {
  const server = await faultyServer(pages);
  const list = server.client().payins.list({ status: 'CONFIRMED' });
  expect(server.requests).toHaveLength(0);
  const page = await list;
  expect(page.data.map(({ id }) => id)).toEqual(['0', '1', '2']);
  expect((await list).data).toBe(page.data);
  expect(server.requests).toHaveLength(1);
});

it('Iterating yields the items of all pages in order, with the same filters', async () => {
  const server = await faultyServer(pages);
  const ids: string[] = [];
  for await (const { id } of server.client().payins.list({ status: 'CONFIRMED', pageSize: 3 })) ids.push(id);
  expect(ids).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/payins?status=CONFIRMED&pageSize=3',
    '/payins?status=CONFIRMED&pageSize=3&cursor=3',
    '/payins?status=CONFIRMED&pageSize=3&cursor=6',
  ]);
});

it('A search has its filters and the cursor in the body of every request', async () => {
  const server = await faultyServer(pages);
  const found = await server.client().payouts.search({ keyString: '@A' }).toArray({ limit: 5 });
  expect(found.map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4']);
  expect(server.requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/payouts/search', { keyString: '@A' }],
    ['/payouts/search', { keyString: '@A', cursor: '3' }],
  ]);
});

it('Leaving the loop early requests no further page', async () => {
  const server = await faultyServer(pages);
  for await (const { id } of server.client().payins.list()) if (id === '1') break;
  expect(await server.client().payins.list().toArray({ limit: 2 })).toHaveLength(2);
  expect(server.requests).toHaveLength(2);
});

it('nextPage and previousPage return pages, and null at the ends', async () => {
  const server = await faultyServer(pages);
  const first = await server.client().payins.list();
  const second = await first.nextPage();
  const third = await second?.nextPage();
  expect(third?.data.map(({ id }) => id)).toEqual(['6']);
  expect(await third?.nextPage()).toBeNull();
  expect((await second?.previousPage())?.data).toEqual(first.data);
  expect(await first.previousPage()).toBeNull();
  expect(JSON.parse(JSON.stringify(first))).toEqual({ data: first.data, pageInfo: first.pageInfo });
});

it('A list without pageInfo is one page', async () => {
  const server = await faultyServer(json({ data: [{ id: 'e1' }] }));
  const page = await server.client().webhookEndpoints.list();
  expect(page.pageInfo).toMatchObject({ hasNext: false, nextCursor: null });
  const ids: string[] = [];
  for await (const { id } of server.client().webhookEndpoints.list()) ids.push(id);
  expect(ids).toEqual(['e1']);
});

it('An error is thrown by await, iteration and pages alike', async () => {
  const server = await faultyServer(problem(400, 'cursor_invalid'));
  const list = server.client().payins.list({ cursor: 'x' });
  expect(await thrownBy(list)).toMatchObject({ code: 'cursor_invalid' });
  expect(await thrownBy(list.toArray({ limit: 1 }))).toMatchObject({ code: 'cursor_invalid' });
});
