import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { newReference, psePayin } from '../harness/payin-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ settings: { CAUDAL_LOG_LEVEL: 'info' } });
});
afterAll(() => stack?.stop());

describe('a process that receives SIGTERM', () => {
  /** Result of a new connection. */
  function tryConnect(url: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve('accepted');
      });
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'));
    });
  }

  it('answers the fifty requests in flight, accepts no new ones and exits with 0', async () => {
    const [leaving] = stack.apis;
    if (!leaving) throw new Error('no API process was started');
    const client = stack.api.strict;
    const control = new SimulatorControl(stack.simulatorUrl);
    expect((await client.get('/pse/banks')).status).toBe(200);
    await control.addFault({ rail: 'PSE', operation: '*', fault: 'slow', ms: 800 });
    const prefix = newReference();
    let answered = 0;
    const requests = Array.from({ length: 50 }, async (_, index) => {
      const answer = await client.post('/payins', psePayin({ reference: `${prefix}-${index}` }));
      answered += 1;
      return answer.status;
    });
    await until('all of them are committed and wait for the bank', async () => {
      const rows = await stack.database.query('select from caudal.payins where reference like $1', [
        `${prefix}-%`,
      ]);
      return rows.length === 50;
    });
    expect(answered).toBe(0);
    const sinceSignal = stopwatch();
    leaving.kill('SIGTERM');
    await until(
      'no new connection is accepted',
      async () => (await tryConnect(leaving.url)) === 'ECONNREFUSED',
    );
    expect(answered).toBeLessThan(50);
    const readiness = await fetch(`${leaving.opsUrl}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([
      503,
      expect.objectContaining({ codes: ['shutting_down'], reasons: ['shutting down'] }),
    ]);
    expect(await Promise.all(requests)).toEqual(requests.map(() => 201));
    expect(await leaving.exited).toBe(0);
    // Not by the forced exit after 25 seconds: idle connections do not delay it.
    expectWithin('the exit', sinceSignal(), 10_000);
    expect(leaving.output()).toContain('"msg":"stopped"');
  });
});
