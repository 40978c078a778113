import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { registerPackages } from '../../src/http/packages-routes.ts';

let folder: string;
let app: FastifyInstance;
let address: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-packages-'));
  app = Fastify();
  registerPackages(app, 'https://api.example.com', folder);
  await app.listen({ port: 0, host: '127.0.0.1' });
  address = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

it('lists the tarballs with their URL and integrity, the newest version first', async () => {
  for (const version of ['0.9.0', '0.10.0', '0.2.0-rc.1'])
    writeFileSync(join(folder, `caudal-sdk-${version}.tgz`), version);
  writeFileSync(join(folder, 'caudal-cli-0.9.0.tgz'), 'cli');
  writeFileSync(join(folder, 'caudal-other-1.0.0.tgz'), 'not ours');
  const { packages } = (await (await fetch(`${address}/packages`)).json()) as { packages: object[] };
  expect(packages.map((each) => Object.values(each).slice(0, 3))).toEqual([
    ['@caudal/cli', '0.9.0', 'https://api.example.com/packages/caudal-cli-0.9.0.tgz'],
    ['@caudal/sdk', '0.10.0', 'https://api.example.com/packages/caudal-sdk-0.10.0.tgz'],
    ['@caudal/sdk', '0.9.0', 'https://api.example.com/packages/caudal-sdk-0.9.0.tgz'],
    ['@caudal/sdk', '0.2.0-rc.1', 'https://api.example.com/packages/caudal-sdk-0.2.0-rc.1.tgz'],
  ]);
  expect(packages[0]).toMatchObject({
    integrity: `sha512-${createHash('sha512').update('cli').digest('base64')}`,
  });
});

it('lists nothing when the packages are not built', async () => {
  rmSync(folder, { recursive: true });
  expect(await (await fetch(`${address}/packages`)).json()).toEqual({ packages: [] });
});

it('serves a tarball unchanged, and 304 to a client that has it', async () => {
  const bytes = Buffer.from([0x1f, 0x8b, 0, 255]);
  writeFileSync(join(folder, 'caudal-sdk-0.1.0.tgz'), bytes);
  const url = `${address}/packages/caudal-sdk-0.1.0.tgz`;
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toBe('application/gzip');
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  const etag = response.headers.get('etag') ?? '';
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

it('serves no other file', async () => {
  writeFileSync(join(folder, 'secret.txt'), 'x');
  for (const name of ['secret.txt', '..%2F..%2Fpackage.json', 'caudal-sdk-9.9.9.tgz', '.build-x'])
    expect((await fetch(`${address}/packages/${name}`)).status).not.toBe(200);
});
