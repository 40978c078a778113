import { generateLoad, generatorShare } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atLeast, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';

const CONNECTIONS = 64;
const TARGET = 0.3;

/**
 * P5: payins answered with a QR code ÷ payins with a single-use key, a second. Each kind has its turns, and the better
 * one counts: a machine that slows down in between decides nothing.
 */
export async function benchQrPayins(
  stage: Stage,
  { seconds, turns, warmUp }: { seconds: number; turns: number; warmUp: number },
  seed: number,
): Promise<Metric[]> {
  const run = async (keyType: 'SINGLE_USE' | 'QR_CODE', turn: number) => {
    const result = await generateLoad(stage, {
      perSecond: null,
      connections: CONNECTIONS,
      seconds,
      warmUpSeconds: warmUp,
      request: payinRequest([stage.apiKey], `${keyType}-${seed}-${turn}`, keyType),
    });
    if (result.failures > 0) throw new Error(`${result.failures} creations were not answered 201`);
    return result;
  };
  const single: LoadResult[] = [];
  const qr: LoadResult[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    single.push(await run('SINGLE_USE', turn));
    qr.push(await run('QR_CODE', turn));
  }
  const [bestSingle, bestQr] = [best(single), best(qr)];
  return [
    atLeast(TARGET, {
      id: 'P5',
      says: 'payins with a QR code ÷ payins with a single-use key, a second',
      value: bestQr.perSecond / bestSingle.perSecond,
      details: {
        QR: `${bestQr.perSecond.toFixed(0)}/s (p99 ${bestQr.p99Ms.toFixed(0)} ms)`,
        single: `${bestSingle.perSecond.toFixed(0)}/s (p99 ${bestSingle.p99Ms.toFixed(0)} ms)`,
        generator: generatorShare(bestQr),
      },
      samples: {
        bars: [
          { name: 'QR code', value: bestQr.perSecond },
          { name: 'single use', value: bestSingle.perSecond },
        ],
        latency: [
          { name: 'QR code', points: bestQr.latency },
          { name: 'single use', points: bestSingle.latency },
        ],
      },
    }),
  ];
}

function best(results: readonly LoadResult[]): LoadResult {
  return results.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}
