import type { Caudal } from '@caudal/sdk';
import type { Context } from './command.ts';
import { clientOf, connectionOf } from './connection.ts';
import type { Given } from './given.ts';

/** The API, as the user whose credentials are at hand. */
export function apiOf(context: Context, given: Given): Caudal {
  return clientOf(connectionOf(context.environment, given));
}
