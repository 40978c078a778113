import type { AttemptResult, DueDelivery } from '../../webhooks/delivery.store.ts';
import type { EndpointQueue, QueueRelease } from '../../webhooks/queue.store.ts';
import { retryDelayMs } from '../../webhooks/retry-schedule.ts';
import type { SendResult } from '../../webhooks/sending/webhook-sender.ts';
import type { Target } from './webhook-target.ts';

const MAX_REST_MS = 60_000;
/** Limit for `Retry-After`, which applies to all events of the endpoint. */
const MAX_RETRY_AFTER_MS = 300_000;

/** Outcome of sending one event. */
export interface SendOutcome {
  readonly result: AttemptResult;
  readonly received: boolean;
  /** A test event. */
  readonly test: boolean;
  readonly retryAfterSeconds: number | null;
}

export function toSendOutcome(
  delivery: DueDelivery,
  sendResult: SendResult,
  startedAtMs: number,
  test: boolean,
  encryptResponse: Target['encryptResponse'],
): SendOutcome {
  const number = delivery.attempts + 1;
  const received = isReceived(sendResult);
  const [statusCode, firstBytes, retryAfterSeconds] =
    sendResult.kind === 'answered'
      ? [sendResult.status, sendResult.firstBytes, sendResult.retryAfterSeconds]
      : [null, '', null];
  return {
    received,
    test,
    retryAfterSeconds,
    result: {
      ...deliveryId(delivery),
      attempt: {
        number,
        startedAtMs,
        statusCode,
        durationMs: sendResult.durationMs,
        error: sendResult.kind === 'failed' ? sendResult.reason : null,
        encryptedResponse: firstBytes === '' ? null : encryptResponse(firstBytes),
      },
      status: received ? 'DELIVERED' : 'PENDING',
      retryAfterMs: received ? null : retryDelayMs(number - delivery.attemptsBefore, retryAfterSeconds),
    },
  };
}

/** Any 2xx status acknowledges the event. */
function isReceived(sendResult: SendResult): boolean {
  return sendResult.kind === 'answered' && sendResult.status >= 200 && sendResult.status < 300;
}

/** `give_up_at` passed before the delivery was sent. */
export function expiredResult(delivery: DueDelivery): AttemptResult {
  return { ...deliveryId(delivery), attempt: null, status: 'FAILED', retryAfterMs: null };
}

/** The delivery was not sent and is retried later. */
export function postponedResult(delivery: DueDelivery, retryAfterMs: number): AttemptResult {
  return { ...deliveryId(delivery), attempt: null, status: 'PENDING', retryAfterMs };
}

function deliveryId({ organizationId, endpointId, eventId, replays }: DueDelivery) {
  return { organizationId, endpointId, eventId, replays };
}

/** Result of a batch for the health of its endpoint. A failed test event does not count as a failure. */
export function toBatchResult(sent: readonly SendOutcome[]): QueueRelease['result'] {
  if (sent.some(({ received }) => received)) return 'success';
  return sent.some(({ test }) => !test) ? 'failure' : 'none';
}

/** Delay of a queue after a failed batch: it grows with consecutive failures and respects `Retry-After`. */
export function restMs({ failures }: EndpointQueue, sent: readonly SendOutcome[]): number {
  const backoffMs = Math.min(MAX_REST_MS, 1000 * 2 ** Math.min(failures, 10));
  const requestedMs = 1000 * Math.max(...sent.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0));
  return Math.max(backoffMs, Math.min(MAX_RETRY_AFTER_MS, requestedMs));
}
