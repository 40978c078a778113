import { describe, expect, it } from 'vitest';
import { curlExample } from '../../generate/curl-example.ts';
import { type Operation, operationGroups } from '../../generate/operations.ts';
import { referenceDocument } from './reference-fixture.ts';

function operation(operationId: string): Operation {
  const found = operationGroups(referenceDocument)
    .flatMap((group) => group.operations)
    .find(({ definition }) => definition.operationId === operationId);
  if (found === undefined) throw new Error(`the fixture has no ${operationId}`);
  return found;
}

const BASE_URL = 'https://api.example.com';

describe('the curl command', () => {
  it('sends JSON with the credential from the environment and an idempotency key of its own', () => {
    const body = { mediaType: 'application/json', value: { reference: 'order-1' } };
    expect(curlExample(referenceDocument, operation('createPayin'), BASE_URL, body)).toBe(
      [
        "curl -X POST 'https://api.example.com/payins' \\",
        '  -H "x-api-key: $CAUDAL_API_KEY" \\',
        "  -H 'Idempotency-Key: order-1-attempt' \\",
        "  -H 'Content-Type: application/json' \\",
        "  --data '{",
        '    "reference": "order-1"',
        "  }'",
      ].join('\n'),
    );
  });

  it('escapes a quote in the body', () => {
    const body = { mediaType: 'application/json', value: { name: "D'Angelo'; rm -rf /" } };
    expect(curlExample(referenceDocument, operation('createPayin'), BASE_URL, body)).toContain(
      String.raw`"name": "D'\''Angelo'\''; rm -rf /"`,
    );
  });

  it('fills the path, and the query only with parameters that have their own example', () => {
    expect(curlExample(referenceDocument, operation('getPayin'), BASE_URL)).toContain(
      "curl 'https://api.example.com/payins/0198f3a2-6c1e-7b54-9d0a-3f5e8c21b7d4' ",
    );
    expect(curlExample(referenceDocument, operation('listPayins'), BASE_URL)).toContain(
      "curl 'https://api.example.com/payins?pageSize=20&status=CONFIRMED' ",
    );
  });

  it('sends a form with Basic credentials when the operation requires them', () => {
    const value = { grant_type: 'client_credentials', scope: 'payins:read payins:write' };
    const body = { mediaType: 'application/x-www-form-urlencoded', value };
    expect(curlExample(referenceDocument, operation('createToken'), BASE_URL, body)).toBe(
      [
        "curl -X POST 'https://api.example.com/oauth/token' \\",
        '  -u "$CAUDAL_KEY_ID:$CAUDAL_API_KEY" \\',
        "  --data-urlencode 'grant_type=client_credentials' \\",
        "  --data-urlencode 'scope=payins:read payins:write'",
      ].join('\n'),
    );
  });
});
