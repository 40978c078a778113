import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dev, startDev } from '../dev.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const HEADER = 'reference,name,idType,idNumber,phone,email,key,pesos';

let dev: Dev;
const folder = mkdtempSync(join(tmpdir(), 'caudal-payroll-'));
beforeAll(async () => {
  dev = await startDev();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await dev.stop();
});

function row(reference: string, key: string, pesos: string, name = 'Janeth Smith Prueba'): string {
  return `${reference},"${name}",CO_CC,1000000099,+573001234567,janeth@example.com,${key},${pesos}`;
}

function run(rows: readonly string[] | null, ...args: string[]) {
  const file = rows ? join(folder, 'file.csv') : 'payroll.csv';
  if (rows) writeFileSync(file, [HEADER, ...rows, ''].join('\r\n'));
  return runFile(file, ...args);
}

function runFile(file: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['pay.ts', file, ...args], {
    cwd: HERE,
    env: { ...process.env, CAUDAL_API_KEY: dev.apiKey, CAUDAL_BASE_URL: dev.baseUrl },
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

/** By reference, the last one first: the program creates several at the same time. */
async function payouts(): Promise<{ reference: string; amountInCents: number; status: string }[]> {
  const { data } = await dev.get<{ data: { reference: string; amountInCents: number; status: string }[] }>(
    '/payouts?pageSize=100',
  );
  return data.toSorted((a, b) => b.reference.localeCompare(a.reference));
}

describe('examples/payouts-from-csv', () => {
  it('shows holders and problems in a dry run, and sends nothing', async () => {
    const { status, output } = run(null);
    expect(output).toMatch(/line 2 .*1\.250\.000 .*ok, JAN\*\*\* SMI\*\*\*/);
    expect(output).toMatch(/line 3 .*980\.000,50 .*No such Bre-B key/);
    expect(status).toBe(1);
    expect(await payouts()).toEqual([]);
  });

  it('sends nothing with --send while one row has a problem', async () => {
    const { status, output } = run(null, '--send');
    expect(output).toMatch(/Nothing was sent/);
    expect(status).toBe(1);
    expect(await payouts()).toEqual([]);
  });

  it('pays each row once when the file is sent repeatedly', async () => {
    const rows = [row('nov-1', '@TESTOK', '1250000'), row('nov-2', '@TESTOK', '980000.05')];
    const first = run(rows, '--send');
    expect(first.output).toMatch(/nov-2 {2}CONFIRMED/);
    expect(first.status).toBe(0);
    const again = run([...rows, row('nov-3', '@TESTOK', '10')], '--send');
    expect(again.output).toMatch(/nov-1 .*sent before: CONFIRMED/);
    expect(again.output).toMatch(/1 to pay/);
    expect(await payouts()).toMatchObject([
      { reference: 'nov-3', amountInCents: 1_000, status: 'CONFIRMED' },
      { reference: 'nov-2', amountInCents: 98_000_005, status: 'CONFIRMED' },
      { reference: 'nov-1', amountInCents: 125_000_000, status: 'CONFIRMED' },
    ]);
  });

  it('reads a file of a Colombian spreadsheet: semicolons, 1.250.000 and 980.000,50', () => {
    const file = join(folder, 'excel.csv');
    const cells = (reference: string, pesos: string) =>
      row(reference, '@TESTOK', pesos).replaceAll(/,(?!\d{2}$)/g, ';');
    const rows = [cells('ene-1', '1.250.000'), cells('ene-2', '980.000,50'), cells('ene-3', '$ 1.250')];
    writeFileSync(file, `\uFEFF${[HEADER.replaceAll(',', ';'), ...rows, ''].join('\r\n')}`);
    const { output } = runFile(file);
    expect(output).toMatch(/line 2 .*1\.250\.000 .*ok/);
    expect(output).toMatch(/line 3 .*980\.000,50 .*ok/);
    expect(output).toMatch(/line 4 .*1\.250 .*ok/);
  });

  it("rejects another person's key, an insufficient balance, an invalid amount and a duplicate reference", () => {
    expect(run([row('dec-1', '@TESTOK', '5', 'Pedro Ramírez')]).output).toMatch(/belongs to another person/);
    expect(run([row('dec-2', '@TESTOK', '99000000')]).output).toMatch(/does not cover/);
    for (const amount of ['"1,250"', '1.25.000', '1.250.00', '1.250.50', '0.500', '12345678901'])
      expect(run([row('dec-3', '@TESTOK', amount)]).output).toMatch(/line 2: ".*" is not a valid amount/);
    expect(run([row('dec-4', '@TESTOK', '5'), row('dec-4', '@TESTOK', '5')]).output).toMatch(
      /duplicate reference/,
    );
  });

  it('exits with code 1 and prints the error code when a payout is declined', () => {
    const { status, output } = run([row('jan-1', '@TESTDECLINED', '5')], '--send');
    expect(output).toMatch(/jan-1 {2}DECLINED \([A-Z_]+\)/);
    expect(status).toBe(1);
  });
});
