export type { CallOptions, KeyedCallOptions } from './calls.ts';
export { Caudal, type CaudalOptions } from './client.ts';
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
export type { List, Page } from './list.ts';
export type { Fetch } from './platform.ts';
export type { WaitOptions } from './wait-for.ts';
export { WebhookVerificationError } from './webhook-signature.ts';
export * as webhooks from './webhooks.ts';
