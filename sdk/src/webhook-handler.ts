import { readText } from './attempt.ts';
import type { CaudalEvent } from './generated/schemas.ts';
import { checkFunction, checkNames } from './option-checks.ts';
import type { FetchResponse, WebResponse } from './platform.ts';
import { WebhookVerificationError } from './webhook-signature.ts';
import { checkSecrets, readHeader, unwrap, type WebhookHeaders } from './webhook-unwrap.ts';

/** `whsec_…` of the endpoint, or several during a rotation. Undefined, as an unset environment variable is, is an error. */
type Secret = string | readonly string[] | undefined;

export interface ReceiverOptions {
  /**
   * `whsec_…` of the endpoint, or several during a rotation. A function is called for each delivery: use it when the
   * secret is not known when the program is built or started, as in Next.js.
   */
  secret: Secret | (() => Secret | Promise<Secret>);
  /**
   * Called with each verified event; the delivery is acknowledged when it has finished. When it throws, the delivery
   * is not acknowledged and Caudal repeats it. An event can be delivered more than once: deduplicate by `event.id`.
   */
  onEvent: (event: CaudalEvent) => unknown;
  /** Called with each delivery that failed verification, for your logs. The response is 400. */
  onRejected?: ((error: WebhookVerificationError) => unknown) | undefined;
}

/** What to respond to a delivery. */
export interface ReceiverResult {
  /** 204 for a processed event, 400 for a delivery that failed verification. */
  readonly status: number;
  /** Empty, or the reason of the rejection, which the delivery attempts of the endpoint show. */
  readonly body: string;
}

/** The part of a `Request` that the handler uses. */
export interface WebhookRequest extends Pick<FetchResponse, 'body'> {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
}

const OPTIONS: Readonly<Record<keyof ReceiverOptions, true>> = {
  secret: true,
  onEvent: true,
  onRejected: true,
};
/** Much larger than any event. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * For frameworks with their own request objects, such as Express, Fastify and NestJS: a function of the raw body and the
 * headers of a delivery.
 *
 * It throws what `onEvent` throws, and TypeError or WebhookVerificationError (`body_not_raw`) when the receiver is
 * misconfigured. Let your framework respond 500 and log the error: Caudal repeats the delivery.
 * @throws TypeError when an option is invalid or the secret is missing
 * @example
 * const receive = webhooks.receiver({ secret: process.env.CAUDAL_WEBHOOK_SECRET, onEvent });
 * const { status, body } = await receive(rawBody, request.headers);
 */
export function receiver(
  options: ReceiverOptions,
): (body: string | Uint8Array | ArrayBuffer | undefined, headers: WebhookHeaders) => Promise<ReceiverResult> {
  const { secret, onEvent, onRejected } = checkOptions(options);
  return async (body, headers) => {
    const current = typeof secret === 'function' ? await secret() : secret;
    let event: CaudalEvent;
    try {
      event = await unwrap(body ?? emptyBody(headers), headers, checkSecrets(current));
    } catch (error) {
      // A parsed body is a mistake of the receiver: the delivery may be genuine.
      if (!(error instanceof WebhookVerificationError) || error.reason === 'body_not_raw') throw error;
      await onRejected?.(error);
      return { status: 400, body: error.reason };
    }
    await onEvent(event);
    return { status: 204, body: '' };
  };
}

/**
 * For everything that speaks `Request` and `Response`: Next.js, Hono, SvelteKit, Bun, Deno, workers. Throws like
 * `receiver`, so that the platform responds 500 and logs the error.
 * @throws TypeError when an option is invalid or the secret is missing
 * @example
 * export const POST = webhooks.handler({ secret: () => process.env.CAUDAL_WEBHOOK_SECRET, onEvent });
 */
export function handler(options: ReceiverOptions): (request: WebhookRequest) => Promise<WebResponse> {
  const receive = receiver(options);
  return async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const text = await readText(request, MAX_BODY_BYTES);
    if (text === null) return new Response(null, { status: 413 });
    const { status, body } = await receive(text, request.headers);
    return new Response(body === '' ? null : body, { status });
  };
}

/**
 * Frameworks leave the body undefined when a request has none, and also when they were not configured to keep it: then
 * a signed delivery may be genuine.
 */
function emptyBody(headers: WebhookHeaders): string {
  if (readHeader(headers, 'webhook-signature') === null) return '';
  const length = readHeader(headers, 'content-length') ?? '0';
  if (length === '0' && readHeader(headers, 'transfer-encoding') === null) return '';
  throw new WebhookVerificationError(
    'body_not_raw',
    'the framework passed no raw body: see the example of your framework in the SDK guide',
  );
}

function checkOptions(options: ReceiverOptions): ReceiverOptions {
  checkNames('the webhook receiver', options, Object.keys(OPTIONS));
  if (typeof options.onEvent !== 'function')
    throw new TypeError('the webhook receiver needs onEvent, the function that processes an event');
  checkFunction('onRejected', options.onRejected);
  if (typeof options.secret !== 'function') checkSecrets(options.secret);
  return options;
}
