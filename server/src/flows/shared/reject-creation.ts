import { ApiError } from '../../kit/errors.ts';
import type { Rail } from '../../rails/contract.ts';
import type { Creation } from './create-once.ts';

/**
 * What an operator forbids an organization to create. It is decided after idempotency keys and references: a repeat of
 * an earlier request gets its answer, because 403 or 400 would tell the merchant that nothing exists.
 * @param railsOf the rails of which one must be enabled
 */
export function refusedCreations<Command extends Creation>(
  commands: readonly Command[],
  railsOf: (command: Command) => readonly Rail[],
): Map<Command, ApiError> {
  const refused = new Map<Command, ApiError>();
  for (const command of commands) {
    const { suspended, rails } = command.organization;
    if (suspended) refused.set(command, new ApiError('organization_suspended'));
    else if (!railsOf(command).some((rail) => rails.has(rail)))
      refused.set(command, new ApiError('rail_not_enabled'));
  }
  return refused;
}
