import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readQr } from '../../server/test/harness/read-qr.ts';
import type { Stack } from '../../server/test/harness/stack.ts';
import { CommandLine, stackUrl } from './command-line.ts';
import { fundedStack } from './funded-stack.ts';

interface Payin {
  readonly id: string;
  readonly status: string;
  readonly reference: string;
  readonly amountInCents: number;
  readonly sourceData: { readonly qrString?: string; readonly pseUrl?: string };
}

const PAYER = [
  '--name',
  'Ana Rojas',
  '--phone',
  '+573001234567',
  '--email',
  'ana@example.com',
  '--id-number',
];
const RECEIVER = [
  '--name',
  'Janeth Smith Prueba',
  '--phone',
  '+573001234567',
  '--email',
  'j@example.com',
  '--id-number',
  '1000000099',
];

let stack: Stack;
let shop: CommandLine;

beforeAll(async () => {
  stack = await fundedStack();
  const { apiKey } = stack.organization;
  shop = new CommandLine({ CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: stackUrl(stack) });
});
afterAll(() => stack.stop());

test('a payin is created from an amount in pesos, found by its reference, and listed', async () => {
  const created = await shop.run('payins', 'create', '--amount', '49.800', '--reference', 'order-1');
  expect([created.code, created.stderr]).toEqual([0, '']);
  expect(created.stdout).toMatch(/reference +order-1\nstatus +PROCESSING\namount +COP 49,800\n/);
  const [payin, listed] = await Promise.all([
    shop.json<Payin>('payins', 'get', 'order-1'),
    shop.run('payins', 'list'),
  ]);
  expect(payin).toMatchObject({ reference: 'order-1', amountInCents: 4_980_000, rail: 'BRE_B' });
  expect(listed.stdout).toMatch(new RegExp(`${payin.id} +PROCESSING +49,800 +order-1`));
  for (const line of listed.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('payins create generates a reference, and reads a body from a file or stdin', async () => {
  const file = join(shop.folder, 'body.json');
  const body = {
    amountInCents: 100,
    currency: 'COP',
    rail: 'BRE_B',
    reference: 'order-file',
    breb: { keyType: 'SINGLE_USE' },
  };
  writeFileSync(file, JSON.stringify(body));
  const [created, fromFile, fromStdin] = await Promise.all([
    shop.json<Payin>('payins', 'create', '--amount-in-cents', '5'),
    shop.json<Payin>('payins', 'create', '--data', `@${file}`),
    shop.runWithInput(
      JSON.stringify(body),
      'payins',
      'create',
      '--data',
      '-',
      '--reference',
      'order-stdin',
      '--json',
    ),
  ]);
  expect(created).toMatchObject({
    amountInCents: 5,
    reference: expect.stringMatching(/^order-[a-z0-9]{10}$/),
  });
  expect(fromFile).toMatchObject({ reference: 'order-file', amountInCents: 100 });
  expect(JSON.parse(fromStdin.stdout)).toMatchObject({ reference: 'order-stdin', amountInCents: 100 });
});

/** Decodes the QR code of the terminal output: light on dark, one module per column, two per line. */
function readTerminal(lines: readonly string[]): string {
  const rows = lines.flatMap((line) => [
    Array.from(line, (c) => c === '█' || c === '▀'),
    Array.from(line, (c) => c === '█' || c === '▄'),
  ]);
  return readQr(`data:image/png;base64,${modulesToPng(rows, 4).toString('base64')}`);
}

function modulesToPng(rows: readonly (readonly boolean[])[], scale: number): Buffer {
  const width = (rows[0]?.length ?? 0) * scale;
  const raster = rows.flatMap((row) => {
    const line = Buffer.alloc(1 + Math.ceil(width / 8));
    for (let x = 0; x < width; x += 1)
      if (row[Math.floor(x / scale)]) line[1 + (x >> 3)] = (line[1 + (x >> 3)] ?? 0) | (0x80 >> (x & 7));
    return Array.from({ length: scale }, () => line);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(rows.length * scale, 4);
  header[8] = 1;
  const chunk = (type: string, data: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    return Buffer.concat([size, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  return Buffer.concat([
    Buffer.alloc(8),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(raster))),
  ]);
}

test('the QR code drawn in 80 columns and the saved PNG have the content of the API response', async () => {
  const file = join(shop.folder, 'qr.png');
  const { stdout, stderr } = await shop.run(
    'payins',
    'create',
    '--amount',
    '49800',
    '--qr',
    '--save-qr',
    file,
    '--json',
  );
  const { sourceData } = JSON.parse(stdout) as Payin;
  const content = readQr(sourceData.qrString ?? '');
  const drawn = stderr.split('\n').filter((line) => /^[█▀▄ ]+$/.test(line));
  expect(drawn[0]?.length).toBeLessThanOrEqual(80);
  expect(readTerminal(drawn)).toBe(content);
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(digest(readFileSync(file))).toBe(
    digest(Buffer.from(sourceData.qrString?.split(',')[1] ?? '', 'base64')),
  );
});

test('--wait exits 0 when paid, 1 when declined, 3 on timeout', async () => {
  const create = ['payins', 'create', '--amount', '1000', '--wait', ...PAYER];
  const [paid, declined, slow] = await Promise.all([
    shop.run(...create, '1000000001'),
    shop.run(...create, '1000000003', '--bank', 'CO_NEQUI', '--json'),
    shop.run(...create, '1020304050', '--timeout', '1s'),
  ]);
  expect([paid.code, paid.stdout]).toEqual([0, expect.stringMatching(/status +CONFIRMED/)]);
  expect(paid.stderr).toContain('Waiting for the outcome');
  expect([declined.code, JSON.parse(declined.stdout)]).toMatchObject([
    1,
    { status: 'DECLINED', rail: 'PSE' },
  ]);
  expect([slow.code, slow.stderr]).toEqual([3, expect.stringContaining('still PROCESSING')]);
});

test('payouts create looks up the key and does not send to a holder with another name', async () => {
  const wrong = RECEIVER.map((arg) => (arg.startsWith('Janeth') ? 'Pedro Perez' : arg));
  const create = ['payouts', 'create', '--amount', '5000', '--key', '@TESTOK'];
  const [paid, mismatch, unknown] = await Promise.all([
    shop.run(...create, '--reference', 'salary-1', ...RECEIVER, '--wait'),
    shop.run(...create, '--reference', 'salary-2', ...wrong),
    shop.run('payouts', 'create', '--amount', '5000', '--key', '@TESTNOTFOUND', ...RECEIVER),
  ]);
  expect(paid.stderr).toMatch(/holder +JAN\*\*\* SMI\*\*\* PRU\*\*\*/);
  expect([paid.code, paid.stdout]).toEqual([0, expect.stringMatching(/status +CONFIRMED/)]);
  expect([mismatch.code, mismatch.stderr]).toEqual([1, expect.stringContaining('nothing was sent')]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('breb_key_not_found')]);
  const { data } = await shop.json<{ data: Payin[] }>('payouts', 'list', '--key', '@TESTOK', '--all');
  expect(data.map(({ reference }) => reference)).toEqual(['salary-1']);
});

test('payouts cancel fails with payout_already_sent after the payout was sent', async () => {
  const { code, stderr } = await shop.run('payouts', 'cancel', 'salary-1');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /409 payout_already_sent[\s\S]*request id req_\w+[\s\S]*\/docs\/errors\/payout_already_sent/,
  );
});

test('breb lookup exits 1 when the holder does not have the expected name', async () => {
  const [same, other] = await Promise.all([
    shop.run('breb', 'lookup', '@TESTOK', '--name', 'Janeth Smith Prueba'),
    shop.run('breb', 'lookup', '@TESTOK', '--name', 'Pedro Perez', '--json'),
  ]);
  expect([same.code, same.stdout]).toEqual([0, expect.stringMatching(/name matches +FULL/)]);
  expect([other.code, JSON.parse(other.stdout)]).toMatchObject([1, { match: { name: 'NONE' } }]);
});

test('a payment link is created, expired early and listed', async () => {
  const callback = ['--callback-url', 'https://shop.example.com/thanks'];
  const created = await shop.run(
    'links',
    'create',
    '--amount',
    '10000',
    '--reference',
    'link-1',
    ...callback,
  );
  expect([created.code, created.stdout]).toEqual([
    0,
    expect.stringMatching(/link +http\S+\/l\/\S+\n[\s\S]*reference +link-1/),
  ]);
  const closed = await shop.run('links', 'expire', 'link-1');
  expect([closed.code, closed.stdout]).toEqual([0, expect.stringMatching(/status +EXPIRED/)]);
  const { data } = await shop.json<{ data: { reference: string }[] }>('links', 'list', '--status', 'expired');
  expect(data.map(({ reference }) => reference)).toEqual(['link-1']);
});

test('balance, entries, banks and events are printed as tables and as JSON', async () => {
  const [balance, entries, banks, events] = await Promise.all([
    shop.json<Record<string, unknown>>('balance'),
    shop.run('entries', '--limit', '2'),
    shop.run('banks'),
    shop.json<{ data: { id: string; event: string }[] }>('events', 'list', '--event', 'payout.confirmed'),
  ]);
  // Settlement is scheduled and moves money between the accounts, so only the sum is stable.
  const mine = ['availableInCents', 'pendingInCents', 'heldInCents'].map((name) => Number(balance[name]));
  expect([balance['currency'], mine.reduce((sum, each) => sum + each, 0)]).toEqual(['COP', 99_600_000]);
  expect(entries.stdout).toMatch(/^WHEN +TYPE +COP +FROM +TO/);
  expect(entries.stderr).toContain('There are more');
  expect(banks.stdout).toMatch(/CO_NEQUI +Nequi/);
  const shown = await shop.run('events', 'get', events.data[0]?.id ?? '');
  expect(shown.stdout).toMatch(/"event": "payout.confirmed"[\s\S]*Not delivered: no endpoint/);
});

test('--all reads every page, and a closed stdout pipe is not an error', async () => {
  const wanted = Array.from({ length: 12 }, (_, index) => `many-${index}`);
  for (const reference of wanted) {
    await stack.api.post('/payins', {
      amountInCents: 100,
      currency: 'COP',
      rail: 'BRE_B',
      reference,
      breb: { keyType: 'QR_CODE' },
    });
  }
  const { data } = await shop.json<{ data: Payin[] }>('payins', 'list', '--all');
  expect(data.map(({ reference }) => reference)).toEqual(expect.arrayContaining(wanted));
  const running = shop.start(['payins', 'list', '--all', '--json']);
  running.child.stdout.destroy();
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([0, '']);
});

test('a taken reference shows the existing id, and a validation error shows the invalid fields', async () => {
  const { id } = await shop.json<Payin>('payins', 'get', 'order-1');
  const [taken, invalid] = await Promise.all([
    shop.run('payins', 'create', '--amount', '1', '--reference', 'order-1', '--json'),
    shop.run('payins', 'create', '--amount', '1', '--callback-url', 'ftp://x'),
  ]);
  expect(taken.code).toBe(1);
  expect(taken.stderr).toContain(`existing resource: ${id}`);
  expect(JSON.parse(taken.stdout)).toMatchObject({ code: 'reference_taken', existingId: id });
  expect([invalid.code, invalid.stdout]).toEqual([1, '']);
  expect(invalid.stderr).toMatch(/400 invalid_request[\s\S]*callbackUrl: /);
});

test('the same idempotency key returns the same payin, and idempotency_mismatch with another body', async () => {
  const create = ['payins', 'create', '--reference', 'again-1', '--idempotency-key', 'again', '--amount'];
  const first = await shop.json<Payin>(...create, '700');
  const [again, other] = await Promise.all([shop.json<Payin>(...create, '700'), shop.run(...create, '800')]);
  expect(again.id).toBe(first.id);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('idempotency_mismatch')]);
});

test('a retry with the same idempotency key returns the same payout despite a new lookup', async () => {
  const create = [
    'payouts',
    'create',
    '--amount',
    '2000',
    '--key',
    '@TESTOK',
    '--reference',
    'salary-9',
    ...RECEIVER,
  ];
  const first = await shop.json<Payin>(...create, '--idempotency-key', 'pay-9');
  expect((await shop.json<Payin>(...create, '--idempotency-key', 'pay-9')).id).toBe(first.id);
});

test('without a server a read exits 1, and a creation exits 3 with the idempotency key for the retry', async () => {
  const away = new CommandLine({
    CAUDAL_API_KEY: stack.organization.apiKey,
    CAUDAL_BASE_URL: 'http://127.0.0.1:1',
  });
  const [read, write] = await Promise.all([
    away.run('balance'),
    away.run('payins', 'create', '--amount', '4321', '--reference', 'lost one'),
  ]);
  expect([read.code, read.stderr]).toEqual([
    1,
    expect.stringContaining('no response from http://127.0.0.1:1'),
  ]);
  expect(write.code).toBe(3);
  const repeat = /--idempotency-key (\S+) --reference 'lost one'/.exec(write.stderr)?.[1] ?? '';
  const created = await shop.json<Payin>(
    'payins',
    'create',
    '--amount',
    '4321',
    '--reference',
    'lost one',
    '--idempotency-key',
    repeat,
  );
  expect(created).toMatchObject({ reference: 'lost one', amountInCents: 432_100 });
});

test('an invalid API key is shown only masked', async () => {
  const secret = `cdl_test_01KE2265M7YPHEEX_${'Zq9'.repeat(16)}Z`;
  const client = new CommandLine({ CAUDAL_API_KEY: secret, CAUDAL_BASE_URL: stackUrl(stack) });
  const { code, stdout, stderr } = await client.run('whoami');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/cdl_test_01KE2265M7YPHEEX_…[\s\S]*401 unauthorized/);
  expect(stderr).not.toContain('Zq9');
});

test('an endpoint is created, tested, disabled, enabled, rotated and deleted', async () => {
  const url = 'http://127.0.0.1:9/hook';
  const created = await shop.json<{ id: string; secret: string }>(
    'endpoints',
    'create',
    url,
    '--events',
    'payin.confirmed',
  );
  expect(created.secret).toMatch(/^whsec_/);
  const tested = await shop.run('endpoints', 'test', created.id);
  expect([tested.code, tested.stdout]).toEqual([
    1,
    expect.stringMatching(/PENDING webhook.test [\s\S]*failed \(connect/),
  ]);
  const sent = await shop.run('endpoints', 'deliveries', created.id);
  expect(sent.stdout).toContain('webhook.test');
  expect(await shop.json('endpoints', 'disable', created.id)).toMatchObject({ status: 'DISABLED' });
  expect(await shop.json('endpoints', 'enable', created.id)).toMatchObject({ status: 'ENABLED' });
  const { secret } = await shop.json<{ secret: string }>('endpoints', 'rotate', created.id);
  expect(secret).not.toBe(created.secret);
  const events = await shop.json<{ data: { id: string }[] }>('events', 'list', '--event', 'payin.confirmed');
  const [replayed, since] = await Promise.all([
    shop.json('events', 'replay', events.data[0]?.id ?? ''),
    shop.json('events', 'replay', '--since', '1h'),
  ]);
  expect(replayed).toMatchObject({ events: 1, deliveries: 1 });
  expect(since).toMatchObject({ events: expect.any(Number), deliveries: expect.any(Number) });
  expect(await shop.json('endpoints', 'delete', created.id)).toMatchObject({ deleted: true });
  const listed = await shop.run('endpoints', 'list');
  expect(listed.stdout).toContain('No endpoints');
});

test('endpoints update changes single settings; responses, events and the disabled reason are shown', async () => {
  const server = createServer((_request, response) => void response.writeHead(500).end('no room\ntoday'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  try {
    const created = ['endpoints', 'create', url, '--events', 'payin.confirmed', '--description', 'Orders'];
    const { id } = await shop.json<{ id: string }>(...created, '--header', 'x-shop: 1');
    const tested = await shop.run('endpoints', 'test', url);
    expect(tested.stdout).toMatch(/500 in \d+ ms\n {4}no room today/);
    const { data } = await shop.json<{ data: { id: string }[] }>('events', 'list', '--event', 'webhook.test');
    const [sent, event, events] = await Promise.all([
      shop.run('endpoints', 'deliveries', id),
      shop.run('events', 'get', data[0]?.id ?? ''),
      shop.run('events', 'list', '--limit', '5'),
    ]);
    for (const { stdout } of [sent, event]) expect(stdout).toContain('\n    no room today');
    expect(events.stdout).toMatch(/ID +CREATED +EVENT +REF[\s\S]*\d\d-\d\d \d\d:\d\d  webhook\.test/);
    for (const line of events.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);

    const all = await shop.json('endpoints', 'update', url, '--events', 'all', '--header', '');
    expect(all).toMatchObject({ events: null, description: 'Orders', staticHeader: null });
    const change = ['--url', `${url}/new`, '--events', 'payin.declined', '--description', ''];
    expect(await shop.json('endpoints', 'update', id, ...change)).toMatchObject({
      url: `${url}/new`,
      events: ['payin.declined'],
      description: null,
    });
    expect(await shop.json('endpoints', 'get', `${url}/new`)).toMatchObject({ id, status: 'ENABLED' });
    await shop.run('endpoints', 'disable', id);
    const listed = await shop.run('endpoints', 'list');
    expect(listed.stdout).toBe(`DISABLED ${id} ${url}/new\n  events: payin.declined\n  disabled: by_owner\n`);
    expect((await shop.run('endpoints', 'enable', id)).code).toBe(0);
    await shop.run('endpoints', 'update', id, '--events', 'payin.confirmed');
    const confirmed = await shop.json<{ data: { id: string }[] }>(
      'events',
      'list',
      '--event',
      'payin.confirmed',
    );
    const replayed = await shop.run('events', 'replay', confirmed.data[0]?.id ?? '');
    expect(replayed.stdout).toBe('1 delivery of 1 event queued.\n');
    const rotated = await shop.run('endpoints', 'rotate', id);
    expect(rotated.stderr).toContain('24 hours');
    await shop.run('endpoints', 'delete', id);
  } finally {
    server.close();
  }
});

test('metadata is sent with a payin, a payout and a link, and shown', async () => {
  const metadata = ['--metadata', 'order=1001, note=tres = 3'];
  const payin = await shop.run('payins', 'create', '--amount', '1000', '--reference', 'meta-1', ...metadata);
  expect(payin.stdout).toMatch(/metadata +order=1001, note=tres = 3/);
  const payout = await shop.run(
    'payouts',
    'create',
    '--amount',
    '1000',
    '--key',
    '@TESTOK',
    ...RECEIVER,
    ...metadata,
  );
  expect(payout.stdout).toMatch(/metadata +order=1001, note=tres = 3/);
  const link = ['links', 'create', '--amount', '1000', '--callback-url', 'https://shop.example.com'];
  expect((await shop.run(...link, ...metadata)).stdout).toMatch(/metadata +order=1001, note=tres = 3/);
  expect(await shop.json('payins', 'get', 'meta-1')).toMatchObject({
    metadata: { order: '1001', note: 'tres = 3' },
  });
  const wrong = await shop.run('payins', 'create', '--amount', '1000', '--metadata', 'order');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"order" is not KEY=VALUE')]);
});
