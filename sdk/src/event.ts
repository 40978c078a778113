import type { CaudalEvent } from './generated/schemas.ts';

/** The event type with a name. */
export type EventNamed<Name extends string> = Extract<CaudalEvent, { event: Name }>;
