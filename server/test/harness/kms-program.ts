import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

// A key management service for tests, as its own process: its key exists only here. Prints its port.
const key = randomBytes(32);
const token = process.argv[2] ?? '';

interface Call {
  readonly keyId: string;
  readonly context: string;
  readonly plaintext?: string;
  readonly ciphertext?: string;
}

function wrap({ context, plaintext = '' }: Call): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(Buffer.from(plaintext, 'base64')), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64');
}

function unwrap({ context, ciphertext = '' }: Call): string {
  const bytes = Buffer.from(ciphertext, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64');
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (status: number, body: object) => {
    response.writeHead(status).end(JSON.stringify(body));
  };
  if (request.headers.authorization !== `Bearer ${token}`) return answer(401, {});
  const call = (await json(request)) as Call;
  try {
    answer(200, request.url === '/wrap' ? { ciphertext: wrap(call) } : { plaintext: unwrap(call) });
  } catch {
    answer(400, {});
  }
}

const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(String(address !== null && typeof address === 'object' ? address.port : ''));
});
