import { quantile } from '../load/load-result.ts';
import { atLeast, atMost, type Metric } from '../metric.ts';
import type { Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { runOverload } from './load.ts';
import { creation, page, type StreamResult } from './plan.ts';

const TIMES = 3;
const WINDOW_MS = 500;
const PAGES_PER_SECOND = 10;
const SILENT_SECONDS = 1;

/** Half the capacity, three times the capacity, idle, half again: measures goodput, latency and recovery time. */
export async function benchTripleLoad(
  stage: Stage,
  merchants: readonly Organization[],
  options: {
    readonly capacity: number;
    /** CPU milliseconds of a creation for the API and the database at capacity. */
    readonly servedMs: number;
    readonly seconds: number;
    readonly calmSeconds: number;
  },
): Promise<Metric[]> {
  const { capacity, servedMs, seconds, calmSeconds } = options;
  const run = Date.now().toString(36);
  const half = { seconds: calmSeconds, perSecond: [capacity / 2, PAGES_PER_SECOND] };
  const { phases, generatorCpuSeconds, serverCpuSeconds } = await runOverload(stage, {
    streams: [
      { requests: merchants.map(({ apiKey }, index) => creation(apiKey, `o${index}${run}`)) },
      { requests: [page(await checkoutPath(stage))] },
    ],
    phases: [
      half,
      { seconds, perSecond: [capacity * TIMES, PAGES_PER_SECOND] },
      { seconds: SILENT_SECONDS, perSecond: [0, 0] },
      half,
    ],
  });
  const [before, during, , after] = phases;
  const [calm, calmPages] = [result(before?.[0]), result(before?.[1])];
  const [overload, pages] = [result(during?.[0]), result(during?.[1])];
  const goodput = overload.done.length / seconds;
  const admittedMs = sorted(overload);
  const pagesMs = sorted(pages);
  const calmP99 = quantile(sorted(calm), 0.99);
  return [
    atLeast(0.8, {
      id: 'O1',
      description: 'creations at three times the capacity ÷ the capacity',
      value: goodput / capacity,
      details: {
        'created/s': goodput,
        'capacity/s': capacity,
        'arrivals/s': overload.sent / seconds,
        answers: overload.statuses,
        // The ratio by CPU time, which is meaningful on a shared machine too.
        'by CPU time': (overload.done.length * servedMs) / (1000 * (serverCpuSeconds[1] ?? Number.NaN)),
        'server, of a core': (serverCpuSeconds[1] ?? Number.NaN) / seconds,
        'server at capacity, of a core': (capacity * servedMs) / 1000,
        'generator, of a core': (generatorCpuSeconds[1] ?? Number.NaN) / seconds,
      },
      figures: { capacity },
      samples: { perSecond: [{ name: 'created', values: perSecond(overload, seconds) }] },
    }),
    atMost(1000, {
      id: 'O2',
      description: 'p99 of admitted requests meanwhile',
      unit: 'ms',
      value: quantile(admittedMs, 0.99),
      details: {
        'p50, ms': quantile(admittedMs, 0.5),
        'max, ms': admittedMs.at(-1) ?? Number.NaN,
        'p99 at half the capacity, ms': calmP99,
        'p99 of a checkout page, ms': quantile(pagesMs, 0.99),
        'p99 of it before, ms': quantile(sorted(calmPages), 0.99),
        'pages not shown': pages.sent - pages.done.length,
      },
    }),
    atMost(10, {
      id: 'O3',
      description: 'recovery time after the end of the overload',
      unit: 's',
      value: SILENT_SECONDS + recoveredAfterMs(result(after?.[0]), calmP99) / 1000,
      details: `including ${SILENT_SECONDS} s without load`,
    }),
  ];
}

/** End of the last window with a rejection or with a p99 above 50 ms and twice the p99 before the overload. */
function recoveredAfterMs(after: StreamResult, calmP99: number): number {
  const bearable = Math.max(50, 2 * calmP99);
  const windows = Map.groupBy(after.done, ([atMs]) => Math.floor(atMs / WINDOW_MS));
  const bad = [...windows]
    .filter(([, done]) => {
      const tookMs = done.map(([, took]) => took).toSorted((a, b) => a - b);
      return quantile(tookMs, 0.99) > bearable;
    })
    .map(([window]) => window);
  const rejected = after.rejectedAtMs.map((atMs) => Math.floor(atMs / WINDOW_MS));
  return (Math.max(-1, ...bad, ...rejected) + 1) * WINDOW_MS;
}

async function checkoutPath(stage: Stage): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${stage.ports[0]}/payment-links`, {
    method: 'POST',
    headers: { 'x-api-key': stage.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      amountType: 'FIXED',
      amountInCents: 4_980_000,
      reference: `overload-${Date.now()}`,
      callbackUrl: 'https://shop.example.com/thanks',
    }),
  });
  const link = (await response.json()) as { readonly paymentLinkUrl?: string };
  if (link.paymentLinkUrl === undefined) throw new Error(`no payment link: ${response.status}`);
  return new URL(link.paymentLinkUrl).pathname;
}

function perSecond({ done }: StreamResult, seconds: number): number[] {
  const counts = Map.groupBy(done, ([atMs]) => Math.floor(atMs / 1000));
  return Array.from({ length: seconds }, (_, second) => counts.get(second)?.length ?? 0);
}

function sorted({ done }: StreamResult): number[] {
  return done.map(([, tookMs]) => tookMs).toSorted((a, b) => a - b);
}

function result(found: StreamResult | undefined): StreamResult {
  if (!found) throw new Error('the generator returned no result for a stream');
  return found;
}
