import { ApiError } from '../../kit/errors.ts';
import type { Rail } from '../../rails/contract.ts';
import type { Creation } from './create-once.ts';

/**
 * Rejects creations of suspended organizations and on disabled rails. Runs after idempotency keys and references are
 * reserved: an earlier request must be replayed, because a 403 or 400 would mean that the resource does not exist.
 * @param toRails the rails of a command; one of them must be enabled
 */
export function rejectedCreations<Command extends Creation>(
  commands: readonly Command[],
  toRails: (command: Command) => readonly Rail[],
): Map<Command, ApiError> {
  const rejected = new Map<Command, ApiError>();
  for (const command of commands) {
    const { suspended, rails } = command.organization;
    if (suspended) rejected.set(command, new ApiError('organization_suspended'));
    else if (!toRails(command).some((rail) => rails.has(rail)))
      rejected.set(command, new ApiError('rail_not_enabled'));
  }
  return rejected;
}
