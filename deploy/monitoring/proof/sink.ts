import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A merchant's server: its path selects the response (`/ok`, `/broken`, `/gone`). */
export interface Sink {
  readonly url: string;
  stop(): Promise<void>;
}

const STATUS: Readonly<Record<string, number>> = { '/ok': 204, '/broken': 500, '/gone': 410 };

export async function startSink(): Promise<Sink> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(STATUS[request.url ?? ''] ?? 404).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
