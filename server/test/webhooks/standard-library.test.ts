import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { keyFromBytes } from '../../src/kit/crypto.ts';
import { freshWebhookSecret, printWebhookSecret, signatureHeaders } from '../../src/webhooks/signature.ts';

/** The package that merchants are told to use. */
describe("the Standard Webhooks project's own library", () => {
  const timestamp = new Date();

  it('accepts what we sign, with either secret of a rotation', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.json(), (id, body) => {
        const secrets = [freshWebhookSecret(), freshWebhookSecret()];
        const headers = {
          ...signatureHeaders({ id, timestamp, body: Buffer.from(body) }, secrets.map(keyFromBytes)),
        };
        for (const secret of secrets)
          expect(new Webhook(printWebhookSecret(secret)).verify(body, headers)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('signs the same message with the same words', () => {
    const secret = freshWebhookSecret();
    const headers = signatureHeaders({ id: 'evt_1', timestamp, body: Buffer.from('{"ñ":1}') }, [
      keyFromBytes(secret),
    ]);
    const theirs = new Webhook(printWebhookSecret(secret)).sign('evt_1', timestamp, '{"ñ":1}');
    expect(headers['webhook-signature']).toBe(theirs);
  });

  it('refuses another body, another secret and an old message', () => {
    const secret = freshWebhookSecret();
    const receiver = new Webhook(printWebhookSecret(secret));
    const headers = {
      ...signatureHeaders({ id: 'evt_1', timestamp, body: Buffer.from('{}') }, [keyFromBytes(secret)]),
    };
    const old = new Date(timestamp.getTime() - 6 * 60_000);
    const oldHeaders = {
      ...signatureHeaders({ id: 'evt_1', timestamp: old, body: Buffer.from('{}') }, [keyFromBytes(secret)]),
    };
    const stranger = new Webhook(printWebhookSecret(freshWebhookSecret()));
    expect(() => receiver.verify('{ }', headers)).toThrow('signature');
    expect(() => stranger.verify('{}', headers)).toThrow('signature');
    expect(() => receiver.verify('{}', oldHeaders)).toThrow('too old');
  });
});
