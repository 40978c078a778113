/**
 * Runs as a process of its own (sender.test.ts): what Node makes of the proxies in its environment it makes once, when it
 * starts. Posts to the addresses that it is given, by the sender or, to show that the proxies are in force, by fetch.
 */
import { WebhookSender } from '../../src/webhooks/sending/webhook-sender.ts';

const [by, ...urls] = process.argv.slice(2);
// The peer does not speak TLS, and need not: what counts is who was connected to.
const sender = new WebhookSender({ isAllowed: () => true, connectMs: 1000 });
for (const url of urls) {
  if (by === 'sender') await sender.send({ url, headers: {}, body: Buffer.from('{}') });
  else await fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined);
}
sender.close();
