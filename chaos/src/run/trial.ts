import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientJournal, openClientJournal } from './client-journal.ts';
import type { Cluster } from './cluster.ts';
import { type Load, type LoadOptions, startLoad } from './load.ts';
import { Operator } from './operator.ts';
import { restPayins } from './payin-rest.ts';
import { type Random, randomFrom } from './random.ts';
import { startSinks } from './sinks.ts';
import { type Stage, startStage } from './stage.ts';
import { judge, keepJournals, type Verdict } from './verdict.ts';
import { WebhookClient } from './webhook-client.ts';

/** A stage under load whose journals are kept, so that a separate program can say whether all that was promised holds. */
export interface Trial {
  readonly stage: Stage;
  readonly load: Load;
  /** For whatever else asks for something beside the load. */
  readonly journal: ClientJournal;
  readonly operator: Operator;
  readonly random: Random;
  /** Null where no merchant has endpoints. */
  readonly webhooks: WebhookClient | null;
  /** Stops the load, clears faults, lets time pass beyond every expiry and waits until nothing is left to do. */
  drain(): Promise<void>;
  /** The checker's word, of a run that goes on or of one that is drained. */
  judge(state: 'going on' | 'drained'): Promise<Verdict>;
  /** Copies the journals to where they outlive the run. */
  keepJournals(): string;
  end(): Promise<void>;
}

interface TrialOptions extends LoadOptions {
  /** With sinks for the endpoints that merchants make. */
  readonly webhooks?: boolean;
}

export async function startTrial(cluster: Cluster, seed: number, options: TrialOptions = {}): Promise<Trial> {
  const random = randomFrom(seed);
  const stage = await startStage(cluster);
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-client-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const sinks = options.webhooks ? await startSinks(folder) : null;
  const load = await startLoad(stage, journal, random.branch(), options);
  return {
    stage,
    load,
    journal,
    operator: new Operator(stage, journal),
    random,
    webhooks: sinks && new WebhookClient(stage, journal, sinks),
    drain: () => drain(stage, load),
    judge: (state) => judge(stage, journal.path, state === 'drained' ? 'at rest' : state, sinks?.journal),
    keepJournals: () => keepJournals(stage, journal.path, String(seed), sinks?.journal),
    end: async () => {
      await load.pause();
      journal.close();
      await stage.stop();
      await sinks?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function drain(stage: Stage, load: Load): Promise<void> {
  await load.pause();
  await load.rails.clearFaults();
  await restPayins(stage, load.rails);
}
