import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { keyFromBytes } from '../../src/kit/crypto.ts';
import {
  formatWebhookSecret,
  generateWebhookSecret,
  signatureHeaders,
} from '../../src/webhooks/signature.ts';

/** The package we recommend to merchants. */
describe('the library of the Standard Webhooks project', () => {
  // The library rejects messages that are older than five minutes.
  const timestamp = new Date('2026-11-14T12:00:00Z');
  beforeAll(() => void vi.useFakeTimers({ now: timestamp, toFake: ['Date'] }));
  afterAll(() => void vi.useRealTimers());

  it('accepts our signatures, with either secret of a rotation', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.json(), (id, body) => {
        const secrets = [generateWebhookSecret(), generateWebhookSecret()];
        const headers = {
          ...signatureHeaders({ id, timestamp, body: Buffer.from(body) }, secrets.map(keyFromBytes)),
        };
        for (const secret of secrets)
          expect(new Webhook(formatWebhookSecret(secret)).verify(body, headers)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('creates the same signature', () => {
    const secret = generateWebhookSecret();
    const headers = signatureHeaders({ id: 'evt_1', timestamp, body: Buffer.from('{"ñ":1}') }, [
      keyFromBytes(secret),
    ]);
    const theirs = new Webhook(formatWebhookSecret(secret)).sign('evt_1', timestamp, '{"ñ":1}');
    expect(headers['webhook-signature']).toBe(theirs);
  });

  it('rejects another body, another secret and an old message', () => {
    const secret = generateWebhookSecret();
    const receiver = new Webhook(formatWebhookSecret(secret));
    const headers = {
      ...signatureHeaders({ id: 'evt_1', timestamp, body: Buffer.from('{}') }, [keyFromBytes(secret)]),
    };
    const old = new Date(timestamp.getTime() - 6 * 60_000);
    const oldHeaders = {
      ...signatureHeaders({ id: 'evt_1', timestamp: old, body: Buffer.from('{}') }, [keyFromBytes(secret)]),
    };
    const stranger = new Webhook(formatWebhookSecret(generateWebhookSecret()));
    expect(() => receiver.verify('{ }', headers)).toThrow('signature');
    expect(() => stranger.verify('{}', headers)).toThrow('signature');
    expect(() => receiver.verify('{}', oldHeaders)).toThrow('too old');
  });
});
