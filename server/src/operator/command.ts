import { parseArgs } from 'node:util';
import { compose } from '../compose.ts';
import { readConfig } from '../config.ts';
import type { SystemDeps } from '../deps.ts';
import { createKey, createOrganization, endKey } from '../flows/manage-organizations.ts';
import { listKeysOf, listOrganizations } from '../flows/read-organizations.ts';
import { makeLog } from '../kit/log.ts';
import { SCOPES } from '../organizations/organization.ts';
import { RAILS } from '../rails/contract.ts';

export const HELP = `caudal: payins, payouts and payment links on Bre-B and PSE

Roles of the server (configured by the environment, see docs/reference/configuration.md)
  api                 answer merchants
  worker              do the work that is due
  all                 both in one process
  migrate             bring the database to this version

Commands for operators
  org create --name NAME --support CONTACT [--accent '#0f766e'] [--rails BRE_B,PSE]
             [--city BOGOTA] [--postal-code 110111] [--category 5999]
                      create an organization and print its first API key, once
  org list            the organizations
  keys create --org ID --name NAME [--scopes payins:read,payins:write] [--days N]
                      create a further key and print it, once
  keys list --org ID  the keys of an organization: never their secrets
  keys revoke KEY_ID  end a key and every token made from it, within a second
  help                this text

Every command takes --json to print one JSON document for programs.
`;

class UsageError extends Error {}

type Values = Record<string, string | boolean | undefined>;
type Command = (deps: SystemDeps, values: Values, positionals: readonly string[]) => Promise<Output>;

interface Output {
  readonly json: unknown;
  readonly text: string;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'org create': orgCreate,
  'org list': orgList,
  'keys create': keysCreate,
  'keys list': keysList,
  'keys revoke': keysRevoke,
};

/** @returns the exit code: 0 done, 1 failed, 2 not understood */
export async function operatorCommand(argv: readonly string[]): Promise<number> {
  const command = COMMANDS[argv.slice(0, 2).join(' ')];
  if (!command) {
    console.error(`caudal: there is no command "${argv.slice(0, 2).join(' ')}". Try: caudal help`);
    return 2;
  }
  let options: { values: Values; positionals: string[] };
  try {
    options = parseArgs({ args: argv.slice(2), options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    console.error(`caudal: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  const config = readConfig('operator');
  const { deps, heartbeat, close } = compose(config, makeLog({ level: 'error', base: { role: 'operator' } }));
  try {
    await heartbeat.start();
    const output = await command(deps, options.values, options.positionals);
    console.log(options.values['json'] === true ? JSON.stringify(output.json) : output.text);
    return 0;
  } catch (error) {
    console.error(`caudal: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    await heartbeat.stop();
    await close();
  }
}

const OPTIONS = {
  name: { type: 'string' },
  support: { type: 'string' },
  accent: { type: 'string' },
  rails: { type: 'string' },
  city: { type: 'string' },
  'postal-code': { type: 'string' },
  category: { type: 'string' },
  org: { type: 'string' },
  scopes: { type: 'string' },
  days: { type: 'string' },
  json: { type: 'boolean' },
} as const;

async function orgCreate(deps: SystemDeps, values: Values): Promise<Output> {
  const details = {
    name: required(values, 'name'),
    supportContact: required(values, 'support'),
    accent: matching(values, 'accent', /^#[0-9a-f]{6}$/, '#0f766e', 'a colour such as #0f766e'),
    rails: listed(values, 'rails', RAILS),
    city: matching(values, 'city', /^.{1,60}$/, 'BOGOTA', 'a city of at most 60 letters'),
    postalCode: matching(values, 'postal-code', /^[0-9A-Z]{1,10}$/, '110111', 'a postal code'),
    merchantCategory: matching(
      values,
      'category',
      /^\d{4}$/,
      '5999',
      'a merchant category of four digits (ISO 18245)',
    ),
  };
  const { id, credential } = await createOrganization(deps, details, {
    name: 'first key',
    scopes: SCOPES,
    lifetimeSeconds: null,
  });
  return {
    json: { organizationId: id, keyId: credential.id, apiKey: credential.text },
    text: `Organization ${id} (${details.name})\nAPI key      ${credential.text}\n\nThis key is shown once and stored nowhere. Keep it as you keep a password.`,
  };
}

async function orgList(deps: SystemDeps): Promise<Output> {
  const organizations = await listOrganizations(deps);
  return {
    json: organizations.map(({ rails, ...rest }) => ({ ...rest, rails: [...rails] })),
    text:
      organizations
        .map((each) => `${each.id}  ${[...each.rails].join(',').padEnd(9)}  ${each.name}`)
        .join('\n') || 'There are no organizations yet. Create one: caudal org create',
  };
}

async function keysCreate(deps: SystemDeps, values: Values): Promise<Output> {
  const days = matching(values, 'days', /^\d{1,4}$/, '', 'a number of days');
  const credential = await createKey(deps, required(values, 'org'), {
    name: required(values, 'name'),
    scopes: listed(values, 'scopes', SCOPES),
    lifetimeSeconds: days === '' ? null : Number(days) * 86_400,
  });
  return {
    json: { keyId: credential.id, apiKey: credential.text },
    text: `API key  ${credential.text}\n\nThis key is shown once and stored nowhere.`,
  };
}

async function keysList(deps: SystemDeps, values: Values): Promise<Output> {
  const keys = await listKeysOf(deps, required(values, 'org'));
  const state = (key: (typeof keys)[number]) =>
    key.revoked_at ? 'revoked' : key.expires_at ? `until ${key.expires_at.toISOString()}` : 'live';
  const used = (key: (typeof keys)[number]) =>
    key.last_used_at ? `used ${key.last_used_at.toISOString()}` : 'never used';
  return {
    json: keys,
    text:
      keys.map((key) => `${key.id}  ${state(key).padEnd(8)}  ${used(key)}  ${key.name}`).join('\n') ||
      'No keys.',
  };
}

async function keysRevoke(deps: SystemDeps, _values: Values, [keyId]: readonly string[]): Promise<Output> {
  if (!keyId) throw new UsageError('keys revoke needs the id of a key (keys list shows them)');
  if (!(await endKey(deps, keyId))) throw new Error(`there is no live key ${keyId}`);
  return {
    json: { keyId, revoked: true },
    text: `Key ${keyId} is revoked; no node honours it a second from now.`,
  };
}

function required(values: Values, name: string): string {
  const value = values[name];
  if (typeof value !== 'string' || value.trim() === '')
    throw new UsageError(`--${name} is missing. Try: caudal help`);
  return value;
}

function matching(values: Values, name: string, pattern: RegExp, fallback: string, wanted: string): string {
  const value = values[name];
  if (value === undefined) return fallback;
  if (typeof value !== 'string' || !pattern.test(value)) throw new UsageError(`--${name} must be ${wanted}`);
  return value;
}

function listed<T extends string>(values: Values, name: string, all: readonly T[]): T[] {
  const value = values[name];
  if (typeof value !== 'string') return [...all];
  return value.split(',').map((item) => {
    const known = all.find((each) => each === item.trim());
    if (!known) throw new UsageError(`--${name}: "${item}" is none of ${all.join(', ')}`);
    return known;
  });
}
