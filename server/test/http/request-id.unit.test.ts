import { describe, expect, it } from 'vitest';
import { toRequestId } from '../../src/http/request-id.ts';

const OWN = /^req_[0-9A-HJKMNP-TV-Z]{20}$/;

describe('the request id', () => {
  it.each([
    'a',
    '01890a5d-ac96-774b-bcce-b302099a8057',
    'Root:1-67891233-abcdef012345678912345678',
    'x'.repeat(64),
  ])('is the one of the client: %s', (chosen) => {
    expect(toRequestId({ headers: { 'x-request-id': chosen } })).toBe(chosen);
  });

  it.each([
    '',
    'x'.repeat(65),
    'with space',
    'line\nbreak',
    '"quoted"',
    'a,b',
    '{json}',
    'ñandú',
    'req_OFSOMEBODYELSE0000000',
    'REQ_OFSOMEBODYELSE0000000',
  ])('is a new one instead of %j', (chosen) => {
    expect(toRequestId({ headers: { 'x-request-id': chosen } })).toMatch(OWN);
  });

  it('is a new one without the header', () => {
    expect(toRequestId({ headers: {} })).toMatch(OWN);
  });
});
