import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { HaNode } from '../../../deploy/ha/node.ts';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { drainPayins } from '../run/drain-payins.ts';
import { drainPayouts } from '../run/drain-payouts.ts';
import { drainWebhooks } from '../run/drain-webhooks.ts';
import { print } from '../run/outcome.ts';
import type { Random } from '../run/random.ts';
import { type CheckResult, keepJournals, runChecker } from '../run/run-checker.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { type Sinks, startSinks } from '../webhooks/sinks.ts';
import { type Acknowledgment, Acknowledgments } from './acknowledgments.ts';
import { Executions, findLost } from './compare.ts';
import type { DirectWrite } from './direct-writer.ts';
import { type FailoverCluster, startFailoverCluster } from './failover-cluster.ts';
import { FailoverLoad } from './failover-load.ts';
import type { ClusterFault } from './faults.ts';
import type { FaultResult } from './table.ts';

const FIRST_WRITE_WITHIN_MS = 60_000;
const HEALTHY_WITHIN_MS = 90_000;
/** Nodes name no leader for a moment when etcd wakes and the lock has expired. */
const LEADER_WITHIN_MS = 15_000;
/** Load between two faults, so that caches, leases and pools are in use again. */
const PAUSE_MS = { min: 1500, max: 3500 };

interface RunParts {
  readonly cluster: FailoverCluster;
  readonly stack: Stack;
  readonly journal: ClientJournal;
  readonly acknowledgments: Acknowledgments;
  readonly rails: RailControl;
  readonly sinks: Sinks;
  readonly load: FailoverLoad;
  readonly folder: string;
}

/** Starts the cluster, Caudal on it (two APIs, two workers), the simulator, the merchants' endpoints and the load. */
export async function startFailoverRun(random: Random): Promise<FailoverRun> {
  const cluster = await startFailoverCluster();
  const stack = await startStack(cluster.stack, { settings: { CAUDAL_WORKER_POLL_MS: '100' } });
  const folder = mkdtempSync(join(tmpdir(), 'caudal-failover-'));
  const acknowledgments = new Acknowledgments();
  const journal = acknowledgments.watch(openClientJournal(join(folder, 'client.jsonl')));
  const rails = railControl(stack.simulatorUrl);
  const sinks = await startSinks(folder);
  const load = await FailoverLoad.start(stack, journal, rails, sinks, random.branch());
  return new FailoverRun({ cluster, stack, journal, acknowledgments, rails, sinks, load, folder });
}

/** Caudal under load on a cluster whose primary fails. */
export class FailoverRun {
  readonly #parts: RunParts;
  readonly #executions: Executions;
  #checked = 0;
  #electionMs = 0;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#executions = new Executions(parts.stack.simulatorJournal);
  }

  /** Injects one fault, waits until the cluster is healthy again and compares. @throws when it does not recover */
  async inject(fault: ClusterFault, random: Random, failures: string[]): Promise<FaultResult> {
    const { cluster, acknowledgments } = this.#parts;
    await cluster.ha.waitUntilHealthy(HEALTHY_WITHIN_MS);
    await sleep(random.integer(PAUSE_MS.min, PAUSE_MS.max));
    const primary = await this.#primary();
    const timeline = await cluster.ha.timeline();
    const direct: DirectWrite[] = [];
    const from = Date.now();
    this.#electionMs = 0;
    await fault.run({
      cluster: cluster.ha,
      primary,
      failedOver: () => this.#failedOver(primary),
      promoted: () => this.#promoted(timeline),
      report: (writes) => void direct.push(...writes),
    });
    await cluster.ha.waitUntilHealthy(HEALTHY_WITHIN_MS);
    const leader = await this.#primary();
    await this.#waitForWrite(Date.now());
    const until = Date.now();
    cluster.noteOutage({ from: new Date(from), until: new Date(until) });
    if (!fault.anyLeader && (leader.name !== primary.name) !== fault.movesPrimary)
      failures.push(`${fault.title}: ${primary.name} led before, ${leader.name} leads after`);
    const accepted = direct.filter(({ acknowledged }) => acknowledged);
    if (accepted.length > 0)
      failures.push(`${fault.title}: the old primary acknowledged ${accepted.length} writes`);
    const outageMs = acknowledgments.longestGapMs(from, until);
    return {
      title: fault.title,
      electionMs: this.#electionMs,
      outageMs,
      refusedDirectWrites: direct.length - accepted.length,
      ...(await this.#compare(failures)),
    };
  }

  /** Stops the load, waits until no work is pending, and checks everything. */
  async finish(failures: string[]): Promise<CheckResult> {
    const { stack, rails, load, journal, sinks, cluster, acknowledgments } = this.#parts;
    await load.stop();
    await drainPayins(stack, rails);
    await drainPayouts(stack, rails);
    await drainWebhooks(stack);
    await cluster.ha.waitUntilHealthy(HEALTHY_WITHIN_MS);
    for (const node of cluster.ha.nodes) {
      const lost = await this.#findLostOn(node, acknowledgments.all);
      if (lost.length > 0)
        failures.push(`${node.name} lacks ${lost.length} acknowledged creations: ${sample(lost)}`);
    }
    try {
      print(`  ledger verify: ${(await stack.command('ledger', 'verify')).trim().split('\n').at(-1) ?? ''}`);
    } catch (error) {
      failures.push(`ledger verify: ${String(error)}`);
    }
    return runChecker(stack, journal.path, 'drained', sinks.journal);
  }

  summary(): string {
    const { load, acknowledgments, cluster } = this.#parts;
    const { payins, payouts } = load.counts;
    const { reinitialized } = cluster.ha;
    return `${payins} payins and ${payouts} payouts requested, ${acknowledgments.all.length} acknowledged, ${this.#executions.count} payouts executed, ${reinitialized.length} nodes reinitialized`;
  }

  /** Copies journals and logs to folders that outlive the run. */
  keep(seed: number): string {
    const { stack, journal, sinks, cluster } = this.#parts;
    return `${keepJournals(stack, journal.path, `failover-${seed}`, sinks.journal)}, ${cluster.keepLogs()}`;
  }

  /** The last lines of every process of Caudal. */
  output(): string {
    const { apis, workers } = this.#parts.stack;
    return [...apis, ...workers]
      .map((member) => `${member.name}:\n${member.output().slice(-4000)}`)
      .join('\n');
  }

  async end(): Promise<void> {
    const { load, journal, stack, sinks, cluster, folder } = this.#parts;
    await load.stop();
    journal.close();
    await stack.stop();
    await sinks.stop();
    await cluster.stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  async #compare(failures: string[]): Promise<Pick<FaultResult, 'acknowledged' | 'lost' | 'executedTwice'>> {
    const { stack, acknowledgments } = this.#parts;
    const unchecked = acknowledgments.all.slice(this.#checked);
    this.#checked = acknowledgments.all.length;
    const lost = await findLost((text, values) => stack.query(text, values), unchecked);
    if (lost.length > 0) failures.push(`${lost.length} acknowledged creations are lost: ${sample(lost)}`);
    const twice = this.#executions.readDuplicates();
    if (twice.length > 0) failures.push(`payouts executed twice: ${twice.slice(0, 5).join(' ')}`);
    return { acknowledged: unchecked.length, lost: lost.length, executedTwice: twice.length };
  }

  async #findLostOn(node: HaNode, acknowledged: readonly Acknowledgment[]): Promise<Acknowledgment[]> {
    const client = new Client({ connectionString: this.#parts.cluster.nodeUrl(node) });
    await client.connect();
    try {
      return await findLost(
        async (text, values) => (await client.query(text, [...(values ?? [])])).rows,
        acknowledged,
      );
    } finally {
      await client.end();
    }
  }

  async #primary(): Promise<HaNode> {
    const deadline = performance.now() + LEADER_WITHIN_MS;
    for (;;) {
      const node = await this.#parts.cluster.ha.leader();
      if (node) return node;
      if (performance.now() > deadline) throw new Error('the cluster has no leader');
      await sleep(100);
    }
  }

  async #failedOver(old: HaNode): Promise<void> {
    const { ha } = this.#parts.cluster;
    const others = ha.nodes.filter((node) => node !== old);
    await this.#elected(
      async () => ((await ha.leader(others)) ?? old) !== old,
      `no other node than ${old.name} leads`,
    );
  }

  #promoted(before: number): Promise<void> {
    const { ha } = this.#parts.cluster;
    return this.#elected(
      async () => (await ha.timeline()) > before,
      `no node leads on a timeline after ${before}`,
    );
  }

  async #elected(isElected: () => Promise<boolean>, otherwise: string): Promise<void> {
    const startedAt = performance.now();
    while (!(await isElected())) {
      if (performance.now() - startedAt > FIRST_WRITE_WITHIN_MS)
        throw new Error(`${otherwise} after ${FIRST_WRITE_WITHIN_MS} ms`);
      await sleep(100);
    }
    this.#electionMs = performance.now() - startedAt;
    await this.#waitForWrite(Date.now());
  }

  async #waitForWrite(afterMs: number): Promise<void> {
    const deadline = performance.now() + FIRST_WRITE_WITHIN_MS;
    while (this.#parts.acknowledgments.lastPayinAtMs <= afterMs) {
      if (performance.now() > deadline)
        throw new Error(`no payin was acknowledged for ${FIRST_WRITE_WITHIN_MS} ms`);
      await sleep(20);
    }
  }
}

function sample(lost: readonly Acknowledgment[]): string {
  return lost
    .slice(0, 5)
    .map(({ kind, id, atMs }) => `${kind} ${id} (${new Date(atMs).toISOString()})`)
    .join(', ');
}
