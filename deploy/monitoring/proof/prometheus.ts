import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { RULES_FILE, rulesYaml } from '../rule-files.ts';
import { SCRAPE_SECONDS, SHORT } from './durations.ts';

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ActiveAlert {
  readonly name: string;
  readonly firing: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** A real Prometheus with the rules of this repository, their durations shortened. */
export interface Prometheus {
  query(expr: string): Promise<readonly Sample[]>;
  /** Alerts whose condition holds. They fire after the duration of the alert. */
  active(): Promise<readonly ActiveAlert[]>;
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 20_000;

/** @param targets ops addresses (host and port) by job */
export async function startPrometheus(
  targets: Readonly<Record<string, readonly string[]>>,
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-prometheus-'));
  writeFileSync(join(folder, RULES_FILE), rulesYaml(SHORT));
  writeFileSync(join(folder, 'prometheus.yaml'), configuration(targets));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const exited = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  const api = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
      signal: AbortSignal.timeout(10_000),
    });
    const body = (await response.json()) as { status: string; data: T; error?: string };
    if (body.status !== 'success') throw new Error(`Prometheus: ${path}: ${body.error}`);
    return body.data;
  };
  const deadline = performance.now() + STARTS_WITHIN_MS;
  while (!(await isReady(port))) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`Prometheus did not start:\n${log}`);
    await sleep(100);
  }
  return {
    query: async (expr) => {
      type Result = { metric: Record<string, string>; value: [number, string] }[];
      const { result } = await api<{ result: Result }>(`query?query=${encodeURIComponent(expr)}`);
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    active: async () => {
      type Active = { labels: Record<string, string>; state: string };
      const { alerts } = await api<{ alerts: readonly Active[] }>('alerts');
      return alerts.map(({ labels, state }) => ({
        name: labels['alertname'] ?? '',
        firing: state === 'firing',
        labels,
      }));
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/-/ready`).then(
    (response) => response.ok,
    () => false,
  );
}

function configuration(targets: Readonly<Record<string, readonly string[]>>): string {
  return JSON.stringify({
    global: {
      scrape_interval: `${SCRAPE_SECONDS}s`,
      scrape_timeout: `${SCRAPE_SECONDS}s`,
      evaluation_interval: '1s',
    },
    rule_files: [RULES_FILE],
    scrape_configs: Object.entries(targets).map(([job, addresses]) => ({
      job_name: job,
      static_configs: [{ targets: addresses }],
    })),
  });
}
