import { makeLog } from '../../src/kit/log.ts';
import { serve } from '../../src/serve.ts';
import { ApiClient } from '../harness/api-client.ts';
import { until } from '../harness/until.ts';
import { openTestLedger, type TestLedger } from './test-ledger.ts';

/** A ledger that merchants can read over HTTP, all in the test process. */
export interface ServedLedger extends TestLedger {
  /** A client without a credential. */
  readonly anonymous: ApiClient;
  newShop(): Promise<{ readonly id: string; readonly api: ApiClient }>;
}

export async function serveLedger(): Promise<ServedLedger> {
  const ledger = await openTestLedger();
  const running = await serve('api', ledger.caudal.config, makeLog({ level: 'silent', base: {} }));
  const anonymous = new ApiClient(`http://127.0.0.1:${running.port}`);
  // Building the API can block this process for longer than a clock sample is trusted on a busy machine.
  await until('both clocks have a fresh sample', async () => {
    const { status } = await anonymous.as('no key').get('/balance');
    return status === 401 && ledger.caudal.deps.clock.fresh;
  });
  return {
    ...ledger,
    anonymous,
    newShop: async () => {
      const { principal, apiKey } = await ledger.caudal.newOrganization();
      return { id: principal.organization.id, api: anonymous.as(apiKey) };
    },
    close: async () => {
      await running.stop();
      await ledger.close();
    },
  };
}
