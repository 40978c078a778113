export type { ApiPromise, WithResponse } from './api-promise.ts';
export type { CallOptions, KeyedCallOptions } from './call-options.ts';
export { Caudal } from './client.ts';
export type { CaudalOptions } from './client-options.ts';
export {
  AbortedError,
  ApiError,
  CaudalError,
  ConnectionError,
  type Problem,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts';
export type * from './event.ts';
export type { StreamOptions } from './event-stream.ts';
export { EVENT_NAMES } from './generated/event-names.ts';
export type * from './generated/queries.ts';
export type * from './generated/schemas.ts';
export { VERSION } from './generated/version.ts';
export type { Hooks, RequestEvent, ResponseEvent } from './hooks.ts';
export type { List, Page } from './list.ts';
export type { Fetch } from './platform.ts';
export type { RateLimit, ResponseMetadata } from './response-metadata.ts';
export type { WaitOptions } from './wait-for.ts';
export { WebhookVerificationError } from './webhook-signature.ts';
export * as webhooks from './webhooks.ts';
