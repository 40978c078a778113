import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateLoad } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import { createPayins, finalEvents, pay, payableKeys } from '../payins/payable-keys.ts';
import { REPORT_FOLDER } from '../report/report.ts';
import type { Organization } from '../stage/new-organizations.ts';
import { buildStage, type Stage } from '../stage/stage.ts';
import { createEndpoints, replay } from '../webhooks/endpoints.ts';
import { startSink } from '../webhooks/start-sink.ts';
import { flameGraph, hottest } from './flame-graph.ts';
import { profiled } from './profiler.ts';

const CREATE_SECONDS = 8;
const CONFIRMED = 10_000;
const ENDPOINTS = 20;
const DELIVERED_EVENTS = 1000;
const NAMED = 12;

/** Flame graphs of the three hottest paths: creation (an API process), confirmation and delivery (the worker). */
export async function drawFlames(): Promise<void> {
  const stage = await buildStage({ inspected: true });
  try {
    const { inspectors } = stage;
    if (!inspectors) throw new Error('the stage has no inspectors');
    await load(stage, 'warm', 4);
    await draw('create', inspectors.api, 'Creating payins: one API process', () =>
      load(stage, 'flame', CREATE_SECONDS),
    );
    const merchant = await merchantWithPayable(stage);
    const keys = await payableKeys(stage, [merchant.organizationId]);
    await draw('confirm', inspectors.worker, 'Confirming payins: the worker', () => confirm(stage, keys));
    await drawDelivery(stage, merchant, inspectors.worker);
  } finally {
    await stage.stop();
  }
}

async function load(stage: Stage, run: string, seconds: number): Promise<void> {
  const result = await generateLoad(stage, {
    perSecond: null,
    connections: 128,
    seconds,
    warmUpSeconds: 0,
    request: payinRequest([stage.apiKey], run),
  });
  if (result.failures > 0) throw new Error(`${result.failures} creations were not answered 201`);
}

async function merchantWithPayable(stage: Stage): Promise<Organization> {
  const [merchant] = await stage.newOrganizations(1);
  if (!merchant) throw new Error('no organization was created');
  await createPayins(stage, [merchant.apiKey], CONFIRMED);
  return merchant;
}

async function confirm(stage: Stage, keys: readonly string[]): Promise<void> {
  const before = await finalEvents(stage);
  await pay(stage, keys);
  while ((await finalEvents(stage)) - before < keys.length) await sleep(50);
}

/** Profiles a replay of some events to many endpoints. */
async function drawDelivery(stage: Stage, merchant: Organization, port: number): Promise<void> {
  const [span] = await stage.query<{ from: Date; to: Date }>(
    `select min(created_at) as from, max(created_at) as to from (
       select created_at from caudal.events where organization_id = '${merchant.organizationId}' order by id limit ${DELIVERED_EVENTS}) as e`,
  );
  if (!span) throw new Error('there are no events');
  const sink = await startSink(ENDPOINTS);
  try {
    await createEndpoints(stage, merchant.apiKey, sink.ports);
    await draw('deliver', port, 'Delivering webhooks: the worker', async () => {
      const deliveries = await replay(
        stage,
        merchant.apiKey,
        span.from.toISOString(),
        new Date(span.to.getTime() + 1).toISOString(),
      );
      while ((await sink.count()).distinct < deliveries) await sleep(50);
    });
  } finally {
    await sink.stop();
  }
}

async function draw(name: string, port: number, title: string, work: () => Promise<void>): Promise<void> {
  const profile = await profiled(port, work);
  mkdirSync(REPORT_FOLDER, { recursive: true });
  const path = join(REPORT_FOLDER, `flame-${name}.svg`);
  writeFileSync(path, flameGraph(title, profile));
  console.log(`${path}\n  functions with the most self time:`);
  for (const { name: hot, share } of hottest(profile, NAMED))
    console.log(`  ${(100 * share).toFixed(1).padStart(5)} %  ${hot}`);
}
