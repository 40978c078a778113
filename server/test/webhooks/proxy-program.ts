/**
 * Runs as a separate process (sender.test.ts), because Node reads the proxy environment once, at startup.
 * Posts to the given URLs with the sender or, to prove that the proxies apply, with fetch.
 */
import { WebhookSender } from '../../src/webhooks/sending/webhook-sender.ts';

const [by, ...urls] = process.argv.slice(2);
// The peer does not speak TLS: only which peer receives a connection matters.
const sender = new WebhookSender({ isAllowed: () => true, connectMs: 1000 });
for (const url of urls) {
  if (by === 'sender') await sender.send({ url, headers: {}, body: Buffer.from('{}') });
  else await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined);
}
sender.close();
