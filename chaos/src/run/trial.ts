import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { Operator } from '../clients/operator.ts';
import { WebhookClient } from '../clients/webhook-client.ts';
import { type Load, type LoadOptions, startLoad } from '../load/load.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { startSinks } from '../webhooks/sinks.ts';
import { drainPayins } from './drain-payins.ts';
import { type Random, randomFrom } from './random.ts';
import { type CheckedState, type CheckResult, keepJournals, runChecker } from './run-checker.ts';

/** A stack under load that keeps journals, from which the separate checker verifies the invariants. */
export interface Trial {
  readonly stack: Stack;
  readonly load: Load;
  /** Journal for requests made outside the load. */
  readonly journal: ClientJournal;
  readonly operator: Operator;
  readonly random: Random;
  /** Null when no merchant has endpoints. */
  readonly webhooks: WebhookClient | null;
  /** Stops the load, clears faults, advances time past every expiry and waits until no work is pending. */
  drain(): Promise<void>;
  /** Runs the checker. */
  runChecker(state: CheckedState): Promise<CheckResult>;
  /** Copies the journals to a folder that outlives the run. */
  keepJournals(): string;
  end(): Promise<void>;
}

interface TrialOptions extends LoadOptions {
  /** Starts sinks for merchants' endpoints. */
  readonly webhooks?: boolean;
}

export async function startTrial(cluster: Cluster, seed: number, options: TrialOptions = {}): Promise<Trial> {
  const random = randomFrom(seed);
  const stack = await startStack(cluster);
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-client-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const sinks = options.webhooks ? await startSinks(folder) : null;
  const load = await startLoad(stack, journal, random.branch(), options);
  return {
    stack,
    load,
    journal,
    operator: new Operator(stack, journal),
    random,
    webhooks: sinks && new WebhookClient(stack, journal, sinks),
    drain: () => drain(stack, load),
    runChecker: (state) => runChecker(stack, journal.path, state, sinks?.journal),
    keepJournals: () => keepJournals(stack, journal.path, String(seed), sinks?.journal),
    end: async () => {
      await load.pause();
      journal.close();
      await stack.stop();
      await sinks?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function drain(stack: Stack, load: Load): Promise<void> {
  await load.pause();
  await load.rails.clearFaults();
  await drainPayins(stack, load.rails);
}
