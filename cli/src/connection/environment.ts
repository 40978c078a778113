import { homedir } from 'node:os';
import { join } from 'node:path';

/** Everything the CLI takes from its environment. No other file reads process.env. */
export interface Environment {
  /** May be empty, as in a CI job whose secret is missing. */
  readonly apiKey: string | undefined;
  /** May be empty, too. */
  readonly baseUrl: string | undefined;
  readonly profile: string | undefined;
  readonly simulatorUrl: string | undefined;
  /** A database URL or its file is set, so operator commands need no settings file of `caudal dev`. */
  readonly hasDatabase: boolean;
  readonly configFile: string;
  readonly folder: string;
  readonly columns: number | undefined;
}

export function readEnvironment(): Environment {
  const { env } = process;
  const readVariable = (name: string) => env[name] || undefined;
  const columns = Number(readVariable('COLUMNS'));
  return {
    apiKey: env['CAUDAL_API_KEY'],
    baseUrl: env['CAUDAL_BASE_URL'],
    profile: readVariable('CAUDAL_PROFILE'),
    simulatorUrl: readVariable('CAUDAL_SIMULATOR_URL'),
    hasDatabase: ['DATABASE_URL', 'DATABASE_SYSTEM_URL'].some(
      (name) => readVariable(name) !== undefined || readVariable(`${name}_FILE`) !== undefined,
    ),
    configFile: join(readVariable('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'caudal', 'config.json'),
    folder: process.cwd(),
    columns: Number.isSafeInteger(columns) && columns > 0 ? columns : undefined,
  };
}

/**
 * Environment for a server program that reads a settings file. Environment variables override the file, and
 * CAUDAL_BASE_URL has another meaning in the CLI (the API to call) than in the server (its own public URL).
 */
export function environmentWithoutBaseUrl(): Readonly<Record<string, string | undefined>> {
  const { CAUDAL_BASE_URL: _, ...rest } = process.env;
  return rest;
}
