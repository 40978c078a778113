import { homedir } from 'node:os';
import { join } from 'node:path';

/** All that is taken from outside the command line: the only reader of the process's environment. */
export interface Environment {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly profile: string | undefined;
  readonly simulatorUrl: string | undefined;
  /** Set for operator commands: then they need no file of ours. */
  readonly hasDatabase: boolean;
  readonly configFile: string;
  readonly folder: string;
  readonly columns: number | undefined;
}

export function readEnvironment(): Environment {
  const { env } = process;
  const args = (name: string) => env[name] || undefined;
  const columns = Number(args('COLUMNS'));
  return {
    apiKey: args('CAUDAL_API_KEY'),
    baseUrl: args('CAUDAL_BASE_URL'),
    profile: args('CAUDAL_PROFILE'),
    simulatorUrl: args('CAUDAL_SIMULATOR_URL'),
    hasDatabase: (args('DATABASE_URL') ?? args('DATABASE_SYSTEM_URL')) !== undefined,
    configFile: join(args('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'caudal', 'config.json'),
    folder: process.cwd(),
    columns: Number.isSafeInteger(columns) && columns > 0 ? columns : undefined,
  };
}

/**
 * For a server's program that reads its settings from a file: what is set outside would win over the file, and
 * CAUDAL_BASE_URL means the address of the API to us and of itself to the server.
 */
export function environmentForSettings(): Readonly<Record<string, string | undefined>> {
  const { CAUDAL_BASE_URL: _, ...rest } = process.env;
  return rest;
}
