import { generateLoad, generatorShare } from '../load/generate-load.ts';
import { payinRequest } from '../load/load-plan.ts';
import type { LoadResult } from '../load/load-result.ts';
import { atLeast, type Metric } from '../metric.ts';
import type { Stage } from '../stage/stage.ts';

const CONNECTIONS = 64;
const TARGET = 0.3;

/**
 * P5: payins with a QR code ÷ payins with a single-use key, per second. The kinds alternate and the best round counts: a
 * temporary slowdown of the machine must not decide the ratio.
 */
export async function benchQrPayins(
  stage: Stage,
  { seconds, rounds, warmUp }: { seconds: number; rounds: number; warmUp: number },
  seed: number,
): Promise<Metric[]> {
  const run = async (keyType: 'SINGLE_USE' | 'QR_CODE', round: number) => {
    const result = await generateLoad(stage, {
      perSecond: null,
      connections: CONNECTIONS,
      seconds,
      warmUpSeconds: warmUp,
      request: payinRequest([stage.apiKey], `${keyType}-${seed}-${round}`, keyType),
    });
    if (result.failures > 0) throw new Error(`${result.failures} creations were not answered 201`);
    return result;
  };
  const single: LoadResult[] = [];
  const qr: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    single.push(await run('SINGLE_USE', round));
    qr.push(await run('QR_CODE', round));
  }
  const [bestSingle, bestQr] = [best(single), best(qr)];
  return [
    atLeast(TARGET, {
      id: 'P5',
      description: 'payins with a QR code ÷ payins with a single-use key, per second',
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
