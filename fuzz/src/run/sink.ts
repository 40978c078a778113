import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ownership } from '../tenants/ownership.ts';
import type { TenantName } from '../tenants/tenant.ts';

/** Receives webhooks of both organizations and looks for data of the other one. */
export interface Sink {
  readonly url: string;
  readonly received: number;
  readonly leaks: readonly string[];
  stop(): Promise<void>;
}

export async function startSink(ownership: Ownership): Promise<Sink> {
  let received = 0;
  const leaks: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      received += 1;
      const tenant = /^\/([ab])\//.exec(request.url ?? '')?.[1] as TenantName | undefined;
      const text = Buffer.concat(pieces).toString('utf8');
      const [foreign] = tenant ? ownership.findForeign(tenant, text) : [];
      if (foreign !== undefined && leaks.length < 10)
        leaks.push(`${request.url}: ${foreign} in ${text.slice(0, 500)}`);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get received() {
      return received;
    },
    leaks,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
