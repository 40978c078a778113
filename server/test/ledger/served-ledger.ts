import { makeLog } from '../../src/kit/log.ts';
import { serve } from '../../src/serve.ts';
import { ApiClient } from '../harness/api-client.ts';
import { until } from '../harness/until.ts';
import { type Books, openBooks } from './books.ts';

/** Books that merchants can read over HTTP, all in the test's own process. */
export interface ServedBooks extends Books {
  /** A client without a credential. */
  readonly nobody: ApiClient;
  newShop(): Promise<{ readonly id: string; readonly api: ApiClient }>;
}

export async function serveBooks(): Promise<ServedBooks> {
  const books = await openBooks();
  const running = await serve('api', books.caudal.config, makeLog({ level: 'silent', base: {} }));
  const nobody = new ApiClient(`http://127.0.0.1:${running.port}`);
  // Building the API keeps this process busy for longer than a clock is trusted, if others need the machine too.
  await until('both clocks are heard', async () => {
    const { status } = await nobody.as('no key').get('/balance');
    return status === 401 && books.caudal.deps.clock.fresh;
  });
  return {
    ...books,
    nobody,
    newShop: async () => {
      const { principal, apiKey } = await books.caudal.newOrganization();
      return { id: principal.organization.id, api: nobody.as(apiKey) };
    },
    close: async () => {
      await running.stop();
      await books.close();
    },
  };
}
