import { type ApiDocument, findOperation, successResponse } from './document.ts';
import { comment } from './type-text.ts';

const SAMPLES = {
  SAMPLE_PAYIN: { operationId: 'createPayin', type: 'BrebPayin' },
  SAMPLE_PAYOUT: { operationId: 'createPayout', type: 'Payout' },
  SAMPLE_PAYMENT_LINK: { operationId: 'getPaymentLink', type: 'PaymentLinkWithDetails' },
} as const;

/** The examples of openapi.json, used as data of SDK test deliveries. */
export function samplesFile(document: ApiDocument): string {
  const types = Object.values(SAMPLES).map(({ type }) => type);
  const samples = Object.entries(SAMPLES).map(([name, { operationId, type }]) => {
    const { example } = successResponse(findOperation(document, operationId)).content;
    return `${comment([`The example of ${operationId}.`])}export const ${name}: ${type} = ${JSON.stringify(example)};`;
  });
  return `import type { ${types.sort().join(', ')} } from './schemas.ts';\n\n${samples.join('\n\n')}`;
}
