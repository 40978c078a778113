import type { Caudal } from '@caudal/sdk';
import type { Context } from './command.ts';
import { clientOf, connectionOf } from './connection.ts';
import type { ParsedArgs } from './parsed-args.ts';

/** The API, as the user whose credentials are at hand. */
export function apiOf(context: Context, args: ParsedArgs): Caudal {
  return clientOf(connectionOf(context.environment, args));
}
