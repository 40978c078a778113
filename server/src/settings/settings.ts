import { z } from 'zod';
import { DATABASE_SETTINGS } from './database-settings.ts';
import { DEPLOYMENT_SETTINGS } from './deployment-settings.ts';
import { KEY_SETTINGS } from './key-settings.ts';
import { LIMIT_SETTINGS } from './limit-settings.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { RAIL_SETTINGS } from './rail-settings.ts';
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts';
import { TLS_SETTINGS } from './tls-settings.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

/** All settings. The descriptions are the documentation: docs/reference/configuration.md is generated from them. */
export const SETTINGS = {
  ...DEPLOYMENT_SETTINGS,
  ...DATABASE_SETTINGS,
  ...LIMIT_SETTINGS,
  ...KEY_SETTINGS,
  ...MAIL_SETTINGS,
  ...RAIL_SETTINGS,
  ...TLS_SETTINGS,
  ...WORKER_SETTINGS,
  ...TELEMETRY_SETTINGS,
} as const;

export const SECRETS = [
  'CAUDAL_MASTER_KEY',
  'CAUDAL_MASTER_KEY_PREVIOUS',
  'CAUDAL_KMS_TOKEN',
  'CAUDAL_KEY_PEPPER',
  'CAUDAL_KEY_PEPPER_PREVIOUS',
  'CAUDAL_TOKEN_KEY',
  'CAUDAL_TOKEN_KEY_PREVIOUS',
  'CAUDAL_RECEIPT_KEY',
  'BREB_CLIENT_SECRET',
  'BREB_NOTICE_SECRET',
  'BREB_NOTICE_SECRET_PREVIOUS',
  'PSE_SECRET',
  'PSE_NOTICE_SECRET',
  'PSE_NOTICE_SECRET_PREVIOUS',
] as const;

/** What a process does: a server role, a migration or an operator command. */
export type Role = 'api' | 'worker' | 'migrate' | 'all' | 'operator';

export const schema = z.object(SETTINGS);
export type Settings = z.infer<typeof schema>;

export type RawSettings = Readonly<Record<string, string | undefined>>;
