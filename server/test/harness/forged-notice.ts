import { createHmac, randomUUID } from 'node:crypto';
import type { Stack } from './stack.ts';

const SECRETS = {
  breb: 'dev-breb-notice-secret-of-one-machine',
  pse: 'dev-pse-notice-secret-of-one-machine',
} as const;

/** Sends a notification with a valid rail signature for a payment the rail does not know. */
async function forge(stack: Stack, rail: 'breb' | 'pse', notice: object): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = JSON.stringify({ notices: [notice] });
  const signature = createHmac('sha256', SECRETS[rail]).update(`${timestamp}.${body}`).digest('hex');
  const answer = await fetch(`${stack.apis[0]?.url}/rail-notices/${rail}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-notice-timestamp': timestamp,
      'x-notice-signature': `v1=${signature}`,
    },
    body,
  });
  if (answer.status !== 200) throw new Error(`the server answered the notification with ${answer.status}`);
}

/** @returns the execution ID in the notification */
export async function forgeBrebPayment(
  stack: Stack,
  key: string,
  amountInCents: number,
  executionId: string = randomUUID(),
): Promise<string> {
  await forge(stack, 'breb', {
    noticeId: randomUUID(),
    type: 'SETTLED',
    key,
    internalId: randomUUID(),
    executionId,
    endToEndId: 'e2e',
    amount: (amountInCents / 100).toFixed(2),
    currency: 'COP',
    code: null,
    at: new Date().toISOString(),
  });
  return executionId;
}

/** On PSE the bank transaction ID is the execution ID. */
export async function forgePsePayment(
  stack: Stack,
  reference: string,
  transactionId: string,
  amountInCents: number,
): Promise<void> {
  await forge(stack, 'pse', {
    noticeId: randomUUID(),
    reference,
    transactionId,
    state: 'OK',
    amount: (amountInCents / 100).toFixed(2),
    reason: null,
  });
}
