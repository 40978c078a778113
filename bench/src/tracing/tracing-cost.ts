import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServer } from '../../../scripts/stack/processes.ts';
import { generateLoad, generatorShare } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import { atMost, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';

const CONNECTIONS = 128;
const SAMPLED_SHARE = '0.01';
const MAX_COST = 0.05;

interface TracingOptions {
  readonly pairs: number;
  readonly seconds: number;
  readonly warmUp: number;
}

/**
 * The share of P1 that tracing costs at 1 % sampling. API processes with and without tracing run side by side on the same
 * database and are loaded in turn; the order alternates, so that a slowdown of the machine decides no ratio.
 */
export async function benchTracingCost(
  stage: Stage,
  options: TracingOptions,
  seed: number,
): Promise<Metric[]> {
  const collector = await startCollector();
  const settings = {
    ...stage.settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: SAMPLED_SHARE,
  };
  // The traced worker serves both: it records spans only for payins of the traced API.
  await stage.pauseWorkers();
  const [worker, ...apis] = await Promise.all([
    startServer('worker', settings),
    ...stage.ports.map(() => startServer('api', { ...settings, CAUDAL_PORT: '0' })),
  ]);
  try {
    const ports = { off: stage.ports, on: apis.map((api) => Number(api.ready['port'])) };
    const measure = async (kind: 'off' | 'on', round: string, seconds = options.seconds) => {
      const result = await generateLoad(
        { folder: stage.folder, ports: ports[kind] },
        {
          perSecond: null,
          connections: CONNECTIONS,
          seconds,
          warmUpSeconds: options.warmUp,
          request: payinRequest([stage.apiKey], `tracing-${kind}-${round}-${seed}`),
        },
      );
      if (result.failures > 0) throw new Error(`${result.failures} creations were not answered 201`);
      await stage.abandonUnpaidPayins();
      return result;
    };
    for (const kind of ['off', 'on'] as const) await measure(kind, 'warm-up');
    const pairs: { readonly off: number; readonly on: number }[] = [];
    let generator = '';
    for (let pair = 0; pair < options.pairs; pair += 1) {
      const found = { off: 0, on: 0 };
      for (const kind of pair % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
        const result = await measure(kind, String(pair));
        found[kind] = result.perSecond;
        generator = generatorShare(result);
      }
      pairs.push(found);
      console.log(
        `pair ${pair + 1}: off ${found.off.toFixed(0)}/s, on ${found.on.toFixed(0)}/s, cost ${percent(1 - found.on / found.off)}`,
      );
    }
    return [toMetric(pairs, collector.requests(), generator)];
  } finally {
    await Promise.all([worker, ...apis].map((child) => child.stop()));
    await collector.close();
  }
}

function toMetric(
  pairs: readonly { readonly off: number; readonly on: number }[],
  exports: number,
  generator: string,
): Metric {
  // Without exports there was nothing to measure.
  if (exports === 0) throw new Error('the collector received nothing');
  const costs = pairs.map(({ off, on }) => 1 - on / off).toSorted((a, b) => a - b);
  return atMost(MAX_COST, {
    id: 'TRACING',
    description: `share of P1 that tracing at 1 % sampling costs, median of ${pairs.length} interleaved pairs`,
    value: median(costs),
    details: {
      spread: `${percent(costs[0] ?? 0)} to ${percent(costs.at(-1) ?? 0)}`,
      quartiles: `${percent(quantile(costs, 0.25))} to ${percent(quantile(costs, 0.75))}`,
      off: `${median(pairs.map(({ off }) => off)).toFixed(0)}/s`,
      on: `${median(pairs.map(({ on }) => on)).toFixed(0)}/s`,
      'requests to the collector': exports,
      generator,
    },
    figures: { cost: median(costs) },
  });
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Interpolated between the neighbors. */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Accepts everything, as a collector beside the process does. */
async function startCollector() {
  let requests = 0;
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}
