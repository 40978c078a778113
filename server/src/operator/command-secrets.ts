import type { CommandName } from './commands.ts';

/** Commands that create API keys. */
const CREATES_KEYS: ReadonlySet<CommandName> = new Set(['org create', 'keys create']);

/** Secrets that a command needs besides the database URLs and the master key. */
export function commandSecrets(name: CommandName, changes: boolean): string[] {
  return [
    ...(CREATES_KEYS.has(name) ? ['CAUDAL_KEY_PEPPER'] : []),
    ...(name === 'rails reconcile-after-restore' ? ['BREB_CLIENT_SECRET', 'PSE_SECRET'] : []),
    // A change can record an event, which contains checkout URLs.
    ...(changes ? ['CAUDAL_TOKEN_KEY'] : []),
  ];
}
