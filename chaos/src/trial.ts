import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientJournal, openClientJournal } from './client-journal.ts';
import type { Cluster } from './cluster.ts';
import { type Load, type LoadOptions, startLoad } from './load.ts';
import { Operator } from './operator.ts';
import { type Random, randomFrom } from './random.ts';
import { type Stage, startStage } from './stage.ts';
import { judge, keepJournals, type Verdict } from './verdict.ts';

const DRAINS_WITHIN_MS = 120_000;
const QUIET_POLLS = 5;
const HOUR_MS = 3_600_000;

/** A stage under load whose journals are kept, so that a separate program can say whether all that was promised holds. */
export interface Trial {
  readonly stage: Stage;
  readonly load: Load;
  /** For whatever else asks for something beside the load. */
  readonly journal: ClientJournal;
  readonly operator: Operator;
  readonly random: Random;
  /** Stops the load, clears faults, lets time pass beyond every expiry and waits until nothing is left to do. */
  drain(): Promise<void>;
  /** The checker's word, of a run that goes on or of one that is drained. */
  judge(state: 'going on' | 'drained'): Promise<Verdict>;
  /** Copies the journals to where they outlive the run. */
  keepJournals(): string;
  end(): Promise<void>;
}

export async function startTrial(cluster: Cluster, seed: number, options: LoadOptions = {}): Promise<Trial> {
  const random = randomFrom(seed);
  const stage = await startStage(cluster);
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-client-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const load = await startLoad(stage, journal, random.branch(), options);
  return {
    stage,
    load,
    journal,
    operator: new Operator(stage, journal),
    random,
    drain: () => drain(stage, load),
    judge: (state) => judge(stage, journal.path, state === 'drained' ? 'at rest' : state),
    keepJournals: () => keepJournals(stage, journal.path, String(seed)),
    end: async () => {
      await load.pause();
      journal.close();
      await stage.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function drain(stage: Stage, load: Load): Promise<void> {
  await load.pause();
  await load.rails.clearFaults();
  const deadline = performance.now() + DRAINS_WITHIN_MS;
  // Twice: a payment that was under way when its door shut comes after everything else has ended.
  for (let round = 0; round < 2; round += 1) {
    await stage.shiftTime(HOUR_MS + 60_000);
    // Quiet for a while and not for a moment: what has just become due at a rail has told nobody yet.
    for (let polls = 1, quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; polls += 1) {
      quiet = (await isBusy(stage, load)) ? 0 : quiet + 1;
      // Some questions come again minutes later, and what ended is asked about once more.
      if (polls % 15 === 0 && quiet === 0) await stage.shiftTime(360_000);
      await sleep(200);
    }
  }
}

async function isBusy(stage: Stage, load: Load): Promise<boolean> {
  if ((await load.rails.noticesWaiting()) > 0) return true;
  const [row] = await stage.query<{ busy: boolean }>(
    `select exists (
         select from caudal.payins
         where status in ('PENDING', 'PROCESSING') or rail_due_at is not null or claimed_until > clock_timestamp()
       )
       or exists (select from caudal.rail_notices where task is not null)
       or exists (select from caudal.breb_keys where register_due_at is not null or claimed_until > clock_timestamp()) as busy`,
  );
  return row?.busy ?? true;
}
