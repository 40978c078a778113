import { afterAll, beforeAll, expect, it } from 'vitest';
import { brebPayin } from '../harness/payin-requests.ts';
import { mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { runDoctor } from '../operator/doctor-report.ts';

/** Optional on a developer machine; CI runs as root, and there a failing mount fails the test. */
const canMount = process.getuid?.() === 0 || process.env['CI'] !== undefined;

let disk: SmallDisk;
let stack: Stack;
beforeAll(async () => {
  if (!canMount) return;
  disk = await mountSmallDisk();
  stack = await startStack({ database: disk.database, workers: 1 });
});
afterAll(async () => {
  disk?.empty();
  await stack?.stop();
});

interface Readiness {
  readonly status: number;
  readonly codes: string[];
  readonly reasons: string[];
}

async function readiness(opsUrl: string): Promise<Readiness> {
  const response = await fetch(`${opsUrl}/readyz`);
  return { ...((await response.json()) as Omit<Readiness, 'status'>), status: response.status };
}

it.runIf(canMount)(
  'reports in /readyz and doctor that writes fail while the data disk is full, and recovers when it is freed',
  async () => {
    const processes = [...stack.apis, ...stack.workers].map(({ opsUrl }) => opsUrl);
    expect((await Promise.all(processes.map(readiness))).map(({ status }) => status)).toEqual([200, 200]);
    const { settings } = stack;
    expect((await runDoctor(settings)).check('writes').status).toBe('ok');

    disk.fill();
    await until('creations are rejected', async () => {
      const answer = await stack.api.strict.post('/payins', brebPayin());
      return answer.status === 503 && answer.body['code'] === 'service_unavailable';
    });
    for (const opsUrl of processes) {
      const unready = await until('it is unready', async () => {
        const answer = await readiness(opsUrl);
        return answer.status === 503 && answer;
      });
      expect(unready.codes).toEqual(['write_failed']);
      expect(unready.reasons.join()).toMatch(/No space left on device.*53100/);
    }
    const { code, check } = await runDoctor(settings);
    expect(code).toBe(1);
    expect(check('writes')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('53100'),
      todo: expect.stringContaining('free space'),
    });

    disk.empty();
    for (const opsUrl of processes)
      await until('it is ready again', async () => (await readiness(opsUrl)).status === 200);
    expect((await stack.api.post('/payins', brebPayin())).status).toBe(201);
    expect((await runDoctor(settings)).check('writes').status).toBe('ok');
  },
);
