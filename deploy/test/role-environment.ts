import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../server/src/config.ts';
import { secretsOfOtherRoles } from '../../server/src/settings/role-settings.ts';
import { fileSetting } from '../../server/src/settings/secret-files.ts';
import type { Role } from '../../server/src/settings/settings.ts';
import { expectEqual } from './checks.ts';

const MAKE_SECRETS = fileURLToPath(new URL('../make-secrets.sh', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** The folder with the secrets that deploy/make-secrets.sh creates for a database with TLS. */
export function makeSecrets(folder: string): string {
  const secrets = join(folder, 'secrets');
  execFileSync('sh', [MAKE_SECRETS, secrets, 'db.example.com:5432', '?sslmode=verify-full']);
  return join(secrets, 'files');
}

/**
 * Checks that a role starts with this environment: all settings are valid, and it has no secret of another role.
 * @param mount folder of the secrets in the container
 * @param mounted names of the files in that folder
 * @throws Error, or ConfigError with all problems
 */
export function checkRole(
  role: Role,
  environment: Environment,
  mount: string,
  mounted: readonly string[],
  secrets: string,
): void {
  const paths = Object.values(environment).filter((value) => value.startsWith(`${mount}/`));
  const used = paths.map((path) => path.slice(mount.length + 1));
  expectEqual([...used].sort(), [...mounted].sort(), `files that "${role}" reads`);
  for (const name of mounted)
    if (!existsSync(join(secrets, name))) throw new Error(`make-secrets.sh does not create ${name}`);
  const unneeded = [...secretsOfOtherRoles(role), ...(role === 'migrate' ? [] : ['DATABASE_URL'])].filter(
    (name) => name in environment || fileSetting(name) in environment,
  );
  expectEqual(unneeded, [], `secrets that "${role}" does not need`);
  const local = Object.entries(environment).map(([name, value]) => [
    name,
    value.startsWith(`${mount}/`) ? join(secrets, value.slice(mount.length + 1)) : value,
  ]);
  readConfig(role, Object.fromEntries(local) as Environment);
}
