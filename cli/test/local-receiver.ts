import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';

interface Received {
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

/** A local webhook receiver that verifies with the published Standard Webhooks library and records deliveries. */
export interface LocalReceiver {
  readonly received: readonly Received[];
  readonly rejected: readonly string[];
  stop(): Promise<void>;
}

export async function startReceiver(port: number, secret: string): Promise<LocalReceiver> {
  const received: Received[] = [];
  const rejected: string[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      try {
        const { id, event } = new Webhook(secret).verify(
          body,
          request.headers as Record<string, string>,
        ) as Received;
        received.push({ id, event, body });
        response.writeHead(204).end();
      } catch (error) {
        rejected.push(String(error));
        response.writeHead(401).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    received,
    rejected,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
