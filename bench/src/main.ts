/** npm run bench: measures the metrics of the scoreboard, each next to its baseline, in one run. */
import { BENCHES, type Bench } from './benches.ts';
import { drawFlames } from './flames/flames.ts';
import { type Metric, metricText } from './metric.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { writeCapacityPage } from './report/capacity-page.ts';
import { type Conditions, conditionsText, loadAverage, readConditions } from './report/conditions.ts';
import { type Measured, readEarlierMetrics, writeReport } from './report/report.ts';
import { tableRows, tableText } from './report/table.ts';
import { buildStage } from './stage/stage.ts';

const options = parseOptions();
switch (options.task) {
  case 'help':
    process.stdout.write(HELP);
    break;
  case 'capacity':
    console.log(`written: ${writeCapacityPage()}`);
    break;
  case 'flame':
    await drawFlames();
    break;
  case 'measure':
    await measure();
}

function parseOptions(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

async function measure(): Promise<void> {
  const startedAt = performance.now();
  const chosen = BENCHES.filter(({ ids, slow, onlyByName }) =>
    options.only === null
      ? !(options.quick && slow) && !onlyByName
      : ids.some((id) => options.only?.includes(id)),
  );
  const measured = await measureOnStage(chosen);
  const earlier = readEarlierMetrics();
  const rows = tableRows(measured.metrics, measured.failures, earlier);
  console.log(`\n${conditionsText(measured.conditions)}\n\n${tableText(rows)}\n`);
  const path = writeReport(measured, earlier);
  const took = Object.entries(measured.seconds).map(([what, seconds]) => `${what} ${seconds.toFixed(0)}`);
  console.log(
    `${((performance.now() - startedAt) / 1000).toFixed(0)} s (${took.join('; ')}); the report: ${path}`,
  );
  // A missed target is only a figure; a failing bench found a violated assumption.
  if (measured.failures.size > 0) process.exitCode = 1;
}

async function measureOnStage(chosen: readonly Bench[]): Promise<Measured> {
  const loadBefore = loadAverage();
  const startedAt = performance.now();
  const stage = await buildStage();
  const metrics: Metric[] = [];
  const failures = new Map<string, string>();
  const seconds: Record<string, number> = { setup: (performance.now() - startedAt) / 1000 };
  let conditions: Conditions;
  try {
    conditions = await readConditions(stage, { ...options, loadAverage: loadBefore });
    console.log(conditionsText(conditions));
    for (const bench of chosen) {
      const from = performance.now();
      try {
        const found = await bench.run(stage, options);
        if (!bench.printsItself) for (const metric of found) console.log(metricText(metric));
        metrics.push(...found);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        console.error(`${bench.ids.join(', ')} failed: ${message}`);
        for (const id of bench.ids) failures.set(id, message.split('\n')[0] ?? '');
      }
      await stage.abandonUnpaidPayins();
      seconds[bench.ids.join(', ')] = (performance.now() - from) / 1000;
    }
  } finally {
    await stage.stop();
  }
  return { conditions, metrics, failures, seconds };
}
