import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { keyFromBytes } from '../../src/kit/crypto.ts';
import {
  formatWebhookSecret,
  generateWebhookSecret,
  parseWebhookSecret,
  signatureHeaders,
} from '../../src/webhooks/signature.ts';

/** A receiver's verification, independent of our code. */
function verify(headers: Readonly<Record<string, string>>, body: Buffer, shownSecret: string): boolean {
  const key = Buffer.from(shownSecret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key);
  mac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`).update(body);
  const expected = `v1,${mac.digest('base64')}`;
  return (headers['webhook-signature'] ?? '').split(' ').includes(expected);
}

const message = fc.record({
  id: fc.uuid(),
  timestamp: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
  body: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
});

describe('signatureHeaders', () => {
  it('returns the headers of the published example', () => {
    const secret = parseWebhookSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const headers = signatureHeaders(
      {
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        timestamp: new Date(1_614_265_330_999),
        body: Buffer.from('{"test": 2432232314}'),
      },
      [keyFromBytes(secret ?? Buffer.alloc(0))],
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('verifies with the secret, for this message only', () => {
    fc.assert(
      fc.property(message, (signed) => {
        const secret = generateWebhookSecret();
        const headers = { ...signatureHeaders(signed, [keyFromBytes(secret)]) };
        const shown = formatWebhookSecret(secret);
        expect(verify(headers, signed.body, shown)).toBe(true);
        expect(verify(headers, Buffer.concat([signed.body, Buffer.from(' ')]), shown)).toBe(false);
        expect(verify({ ...headers, 'webhook-id': 'another' }, signed.body, shown)).toBe(false);
        expect(verify({ ...headers, 'webhook-timestamp': '1' }, signed.body, shown)).toBe(false);
        expect(verify(headers, signed.body, formatWebhookSecret(generateWebhookSecret()))).toBe(false);
      }),
    );
  });

  it('has one signature per secret, so that either verifies during a rotation', () => {
    const secrets = [generateWebhookSecret(), generateWebhookSecret()];
    const signed = { id: 'a', timestamp: new Date(5000), body: Buffer.from('ñ') };
    const headers = { ...signatureHeaders(signed, secrets.map(keyFromBytes)) };
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const secret of secrets)
      expect(verify(headers, signed.body, formatWebhookSecret(secret))).toBe(true);
  });
});

describe('a webhook secret', () => {
  it('is whsec_ and 32 random bytes, and parses back', () => {
    const secrets = Array.from({ length: 100 }, generateWebhookSecret);
    expect(new Set(secrets.map(formatWebhookSecret)).size).toBe(100);
    for (const secret of secrets) {
      expect(formatWebhookSecret(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(parseWebhookSecret(formatWebhookSecret(secret))).toEqual(secret);
    }
  });

  it.each([
    ['nothing', ''],
    ['no bytes', 'whsec_'],
    ['another prefix', `whpk_${'A'.repeat(43)}=`],
    ['too few bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too many bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
    ['no padding', `whsec_${'A'.repeat(43)}`],
    ['non-zero trailing bits', `whsec_${'A'.repeat(42)}B=`],
    ['a space inside', `whsec_${'A'.repeat(20)} ${'A'.repeat(23)}=`],
    ['trailing characters', `whsec_${'A'.repeat(43)}=x`],
  ])('with %s is rejected', (_name, text) => {
    expect(parseWebhookSecret(text)).toBeNull();
  });
});
