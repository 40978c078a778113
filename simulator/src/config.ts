import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { baseUrl } from './wire.ts';

export type Config = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** Base URL of the bank pages, if it differs from the listening address. */
  readonly publicUrl: string | null;
  /** Base URLs of the server that receives notices. If empty, notices stay queued. */
  readonly noticeUrls: readonly string[];
  /** Delay from an order's intake to its settlement, on the simulator's clock. */
  readonly orderMs: number;
  /** Tests multiply the deadlines of notices: a starved machine must not meet them. */
  readonly deadlineFactor: number;
  readonly breb: { readonly clientId: string; readonly clientSecret: string; readonly noticeSecret: string };
  readonly pse: { readonly entity: string; readonly secret: string; readonly noticeSecret: string };
};

export const USAGE = `usage: node simulator/src/main.ts [--port N] [--host ADDRESS] [--data DIR] [--public-url URL]
                                       [--notices URL[,URL…]]

  --port        TCP port, 0 for any free one      (SIM_PORT, default 4010)
  --host        address to listen on              (SIM_HOST, default 127.0.0.1)
  --data        directory for journal.jsonl       (SIM_DATA, default .data/simulator)
  --public-url  base URL of the bank pages        (SIM_PUBLIC_URL, default the listening address)
  --notices     base URLs of the server to notify (SIM_NOTICE_URLS, default none: notices stay queued)

Accepted credentials: SIM_BREB_CLIENT_ID, SIM_BREB_CLIENT_SECRET, SIM_PSE_ENTITY, SIM_PSE_SECRET.
Notices are signed with SIM_BREB_NOTICE_SECRET and SIM_PSE_NOTICE_SECRET.
Each secret can also be in a file: SIM_PSE_SECRET_FILE names the file of SIM_PSE_SECRET.
An order settles SIM_ORDER_MS milliseconds (default 1000) after it is received.`;

export class ConfigError extends Error {}

/** The only reader of flags and environment. Throws ConfigError with a message for the terminal. */
export function readConfig(argv: readonly string[], env: NodeJS.ProcessEnv): Config {
  const flags = readFlags(argv);
  const publicUrl = flags['public-url'] ?? env['SIM_PUBLIC_URL'];
  return {
    host: flags.host ?? env['SIM_HOST'] ?? '127.0.0.1',
    port: readPort(flags.port ?? env['SIM_PORT'] ?? '4010'),
    dataDir: resolve(flags.data ?? env['SIM_DATA'] ?? '.data/simulator'),
    publicUrl: publicUrl === undefined ? null : readUrl('--public-url', publicUrl),
    noticeUrls: readNoticeUrls(flags.notices ?? env['SIM_NOTICE_URLS'] ?? ''),
    orderMs: readOrderMs(env['SIM_ORDER_MS'] ?? '1000'),
    deadlineFactor: readDeadlineFactor(env['SIM_TEST_DEADLINE_FACTOR'] ?? '1'),
    breb: {
      clientId: env['SIM_BREB_CLIENT_ID'] ?? 'caudal-dev',
      clientSecret: readSecret(env, 'SIM_BREB_CLIENT_SECRET') ?? 'dev-breb-secret',
      noticeSecret: readSecret(env, 'SIM_BREB_NOTICE_SECRET') ?? 'dev-breb-notice-secret-of-one-machine',
    },
    pse: {
      entity: env['SIM_PSE_ENTITY'] ?? 'caudal-dev',
      secret: readSecret(env, 'SIM_PSE_SECRET') ?? 'dev-pse-secret',
      noticeSecret: readSecret(env, 'SIM_PSE_NOTICE_SECRET') ?? 'dev-pse-notice-secret-of-one-machine',
    },
  };
}

function readFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      strict: true,
      allowPositionals: false,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        data: { type: 'string' },
        'public-url': { type: 'string' },
        notices: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The value of the setting, or the contents of the file that NAME_FILE names, without the newline at its end. */
function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  if (file === undefined) return env[name];
  if (env[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are set: set only one`);
  let value: string;
  try {
    value = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read`, { cause: error });
  }
  if (value === '') throw new ConfigError(`${name}_FILE names an empty file`);
  return value;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(`--port must be a number from 0 to 65535, not "${text}"`);
  }
  return port;
}

function readOrderMs(text: string): number {
  if (!/^\d{1,8}$/.test(text)) {
    throw new ConfigError(`SIM_ORDER_MS must be a number of milliseconds, not "${text}"`);
  }
  return Number(text);
}

function readDeadlineFactor(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) {
    throw new ConfigError(`SIM_TEST_DEADLINE_FACTOR must be a number from 1 to 99, not "${text}"`);
  }
  return Number(text);
}

function readNoticeUrls(text: string): string[] {
  return text
    .split(',')
    .filter((url) => url.trim() !== '')
    .map((url) => readUrl('--notices', url.trim()));
}

function readUrl(flag: string, text: string): string {
  const url = baseUrl(text);
  if (url === null) throw new ConfigError(`${flag} must be an http or https URL, not "${text}"`);
  return url;
}
