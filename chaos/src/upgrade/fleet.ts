import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../../scripts/stack/child.ts';
import type { Backend, PollingProxy } from '../../../scripts/stack/polling-proxy.ts';
import { runServerCommand, startServer } from '../../../scripts/stack/processes.ts';
import type { Release } from './releases.ts';

const READY_WITHIN_MS = 30_000;
const POLL_MS = 100;

interface Process {
  readonly role: 'api' | 'worker';
  readonly child: Child;
  readonly backend: Backend;
}

/** The API and worker processes of a deployment, as a platform rolls them: start one, wait for readiness, stop one. */
export class Fleet {
  readonly failures: string[] = [];
  readonly #balancer: PollingProxy;
  readonly #settings: Readonly<Record<string, string>>;
  #processes: Process[] = [];

  constructor(balancer: PollingProxy, settings: Readonly<Record<string, string>>) {
    this.#balancer = balancer;
    this.#settings = settings;
  }

  async start(release: Release, counts: { readonly apis: number; readonly workers: number }): Promise<void> {
    const roles = [
      ...Array.from({ length: counts.apis }, () => 'api' as const),
      ...Array.from({ length: counts.workers }, () => 'worker' as const),
    ];
    this.#processes = await Promise.all(roles.map((role) => this.#launch(role, release)));
  }

  /** Replaces every process, one at a time. */
  async roll(release: Release): Promise<void> {
    for (const leaving of this.#processes) {
      const started = await this.#launch(leaving.role, release);
      this.#processes = this.#processes.map((each) => (each === leaving ? started : each));
      await this.#stop(leaving);
    }
  }

  migrate(release: Release): Promise<string> {
    return runServerCommand(
      ['migrate'],
      { ...this.#settings, CAUDAL_LOG_LEVEL: 'info' },
      join(release.server, 'src', 'main.ts'),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((each) => this.#stop(each)));
    this.#processes = [];
  }

  async #launch(role: 'api' | 'worker', release: Release): Promise<Process> {
    const settings = { ...this.#settings, CAUDAL_PORT: '0', CAUDAL_OPS_PORT: '0' };
    const child = await startServer(role, settings, undefined, join(release.server, 'src', 'main.ts'));
    const url = (port: unknown) => `http://127.0.0.1:${String(port)}`;
    const backend = { url: url(child.ready['port']), opsUrl: url(child.ready['opsPort']) };
    const process = { role, child, backend };
    void child.exited.then((code) => {
      if (code !== 0) this.failures.push(`${role} of ${release.name} exited with code ${code}`);
    });
    if (role === 'api') this.#balancer.add(backend);
    await this.#ready(process);
    return process;
  }

  async #ready({ role, backend, child }: Process): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const ready =
        role === 'api'
          ? this.#balancer.isReady(backend)
          : await fetch(`${backend.opsUrl}/readyz`).then(
              ({ status }) => status === 200,
              () => false,
            );
      if (ready) return;
      if (performance.now() > deadline)
        throw new Error(`${child.name} did not become ready:\n${child.output()}`);
      await sleep(POLL_MS);
    }
  }

  async #stop({ child, backend }: Process): Promise<void> {
    await child.stop();
    this.#balancer.remove(backend);
  }
}
