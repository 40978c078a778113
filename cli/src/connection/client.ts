import type { Caudal } from '@caudal/sdk';
import type { Context } from '../framework/command.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { createClient, resolveConnection } from './connection.ts';

/** An API client with the credentials of this invocation. */
export function createApiClient(context: Context, args: ParsedArgs): Caudal {
  return createClient(resolveConnection(context.environment, args));
}
