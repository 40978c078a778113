import type { AttemptResult, DueDelivery } from '../../webhooks/delivery.store.ts';
import type { EndpointQueue, QueueRelease } from '../../webhooks/queue.store.ts';
import { retryDelayMs } from '../../webhooks/retry-schedule.ts';
import type { SendResult } from '../../webhooks/sending/webhook-sender.ts';
import type { Target } from './webhook-target.ts';

const LONGEST_REST_MS = 60_000;
/** An endpoint may ask for more with `Retry-After`, and does for all its events. */
const LONGEST_ASKED_REST_MS = 300_000;

/** What came of sending an event. */
export interface Sent {
  readonly result: AttemptResult;
  readonly received: boolean;
  /** One that somebody asked for. */
  readonly test: boolean;
  readonly retryAfterSeconds: number | null;
}

export function sentOf(
  delivery: DueDelivery,
  answer: SendResult,
  startedAtMs: number,
  test: boolean,
  sealAnswer: Target['sealAnswer'],
): Sent {
  const number = delivery.attempts + 1;
  const received = isReceived(answer);
  const [statusCode, firstBytes, retryAfterSeconds] =
    answer.kind === 'answered'
      ? [answer.status, answer.firstBytes, answer.retryAfterSeconds]
      : [null, '', null];
  return {
    received,
    test,
    retryAfterSeconds,
    result: {
      ...idOf(delivery),
      attempt: {
        number,
        startedAtMs,
        statusCode,
        durationMs: answer.durationMs,
        error: answer.kind === 'failed' ? answer.reason : null,
        sealedAnswer: firstBytes === '' ? null : sealAnswer(firstBytes),
      },
      status: received ? 'DELIVERED' : 'PENDING',
      againAfterMs: received ? null : retryDelayMs(number - delivery.attemptsBefore, retryAfterSeconds),
    },
  };
}

/** Any 2xx. */
function isReceived(answer: SendResult): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

/** Its time was over before it could be sent. */
export function givenUp(delivery: DueDelivery): AttemptResult {
  return { ...idOf(delivery), attempt: null, status: 'FAILED', againAfterMs: null };
}

/** It was not sent, and is looked at again later. */
export function postpone(delivery: DueDelivery, againAfterMs: number): AttemptResult {
  return { ...idOf(delivery), attempt: null, status: 'PENDING', againAfterMs };
}

function idOf({ organizationId, endpointId, eventId, replays }: DueDelivery) {
  return { organizationId, endpointId, eventId, replays };
}

/** What a turn says about its endpoint. A test that fails says nothing: nobody was to be told of anything. */
export function judged(sent: readonly Sent[]): QueueRelease['result'] {
  if (sent.some(({ received }) => received)) return 'success';
  return sent.some(({ test }) => !test) ? 'failure' : 'none';
}

/** Of a line whose turn failed: longer with each failure in a row, and as long as its endpoint asked for. */
export function restMs({ failures }: EndpointQueue, sent: readonly Sent[]): number {
  const ours = Math.min(LONGEST_REST_MS, 1000 * 2 ** Math.min(failures, 10));
  const theirs = 1000 * Math.max(...sent.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0));
  return Math.max(ours, Math.min(LONGEST_ASKED_REST_MS, theirs));
}
