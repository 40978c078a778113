import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brebPayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly process: string;
}

const PAGE = readFileSync(new URL('../../../docs/operating/metrics.md', import.meta.url), 'utf8');
const TYPES: Readonly<Record<string, string>> = { C: 'counter', G: 'gauge', H: 'histogram' };
/** They exist only with settings of their own, or after something that this test does not do. */
const WITHOUT_SAMPLES: ReadonlySet<string> = new Set([
  'caudal_tls_certificate_expiry_timestamp_seconds',
  'caudal_ledger_verification_inconsistencies',
  'caudal_ledger_inconsistent_rows',
  'caudal_suspense_balance_pesos',
  // The PostgreSQL of the tests archives nothing and has no backup.
  'caudal_database_archive_last_success_timestamp_seconds',
  'caudal_backup_age_seconds',
]);

function readTable(): Row[] {
  return [...PAGE.matchAll(/^\| `(\w+)` \| (\w) \|(.*?)\| (\w+) \| .+ \|$/gm)].map(
    ([, name = '', type = '', labels = '', process = '']) => ({
      name,
      type: TYPES[type] ?? '',
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort(),
      process,
    }),
  );
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
});
afterAll(() => stack?.stop());

function opsUrl(role: 'api' | 'worker'): string {
  return (role === 'api' ? stack.apis : stack.workers)[0]?.opsUrl ?? '';
}

/** All metrics of a process: name, type and the labels of its samples. */
async function scrape(role: 'api' | 'worker') {
  const text = await (await fetch(`${opsUrl(role)}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
    const sample = type === 'histogram' ? `${name}_count` : name;
    const found = text
      .split('\n')
      .filter((line) => line.startsWith(`${sample}{`) || line.startsWith(`${sample} `))
      .map((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label).sort());
    return { name, type, labels: found[0] ?? null };
  });
}

describe('the table of metrics in the documentation', () => {
  it.each(['api', 'worker'] as const)('has all metrics of the role %s, and no other', async (role) => {
    expect((await stack.api.post('/payins', brebPayin())).status).toBe(201);
    const expected = readTable().filter(({ process }) => process === 'all' || process === role);
    const found = await until('all metrics have samples', async () => {
      const metrics = await scrape(role);
      const without = metrics.filter(({ name, labels }) => labels === null && !WITHOUT_SAMPLES.has(name));
      // A worker creates no payins and serves no requests, so that these histograms stay empty.
      return without.every(({ name }) => role === 'worker' && name.startsWith('caudal_payin_')) && metrics;
    });
    const names = new Set(found.map(({ name }) => name));
    expect(expected.filter(({ name }) => !names.has(name)).map(({ name }) => name)).toEqual([
      'caudal_tls_certificate_expiry_timestamp_seconds',
    ]);
    for (const { name, type, labels } of found) {
      const row = expected.find((each) => each.name === name);
      expect(row ?? `${name} has no row`).toMatchObject({ type, ...(labels ? { labels } : {}) });
    }
  });

  it('lists each metric once', () => {
    const names = readTable().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(70);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('a scrape', () => {
  it('does not change what the next one sees', async () => {
    const readDelay = async () => {
      const text = await (await fetch(`${opsUrl('api')}/metrics`)).text();
      return Number(/^caudal_event_loop_delay_seconds (\S+)$/m.exec(text)?.[1]);
    };
    await until('a delay was measured', async () => (await readDelay()) > 0);
    // A reset would leave no sample within the moment between two scrapes.
    expect(await readDelay()).toBeGreaterThan(0);
  });

  it('reports readiness with all codes', async () => {
    const text = await (await fetch(`${opsUrl('worker')}/metrics`)).text();
    expect(text).toMatch(/^caudal_ready 1$/m);
    const codes = [...text.matchAll(/^caudal_unready_reason\{code="(\w+)"\} 0$/gm)].map(([, code]) => code);
    expect(codes).toEqual(expect.arrayContaining(['shutting_down', 'database_silent', 'write_failed']));
  });

  it('has no value of the database while the database does not answer, and the reason', async () => {
    const read = async () => (await fetch(`${opsUrl('worker')}/metrics`)).text();
    expect(await read()).toMatch(/^caudal_payouts_waiting 0$/m);
    await stack.database.query('revoke usage on schema caudal from caudal_system');
    try {
      await until('the gauges have no sample', async () => {
        const text = await read();
        return (
          !/^caudal_(?:payouts_waiting|anomalies_open|breb_keys_waiting|webhook_endpoints_failing) /m.test(
            text,
          ) &&
          /^caudal_ready 0$/m.test(text) &&
          /^caudal_unready_reason\{code="\w+"\} 1$/m.test(text)
        );
      });
    } finally {
      await stack.database.query('grant usage on schema caudal to caudal_system');
    }
    await until('they are back', async () => {
      const text = await read();
      return /^caudal_payouts_waiting 0$/m.test(text) && /^caudal_ready 1$/m.test(text);
    });
  });
});
