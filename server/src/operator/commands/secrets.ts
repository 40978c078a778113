import type { CatalogEntry } from './description.ts';
import { BY } from './shared-options.ts';

export const SECRET_COMMANDS = [
  {
    name: 'secrets rewrap',
    audit: 'with_change',
    summary: 'rewrap all data keys with the current CAUDAL_MASTER_KEY',
    usage: 'secrets rewrap --by NAME',
    options: [BY],
    details:
      'Run it after a master key rotation. Then restart every process and remove CAUDAL_MASTER_KEY_PREVIOUS.',
    examples: ['caudal secrets rewrap --by ana'],
  },
  {
    name: 'secrets rotate-data-keys',
    audit: 'with_change',
    summary: 'give organizations a new data key and encrypt their values again',
    usage: 'secrets rotate-data-keys [--org ID] --by NAME',
    options: [{ name: 'org', value: 'ID', summary: 'only this organization; default: all' }, BY],
    details:
      'The new key encrypts after 30 seconds. Workers then encrypt the existing values again in the background (schedule data-keys); `secrets status` shows the progress. Older keys are deleted a day later, when no row carries them, unless a month was detached while they existed. Run it only when every process runs a version that has this command.',
    examples: ['caudal secrets rotate-data-keys --by ana'],
  },
  {
    name: 'secrets status',
    audit: 'none',
    summary: 'show which keys are still needed, and the progress of rotations',
    usage: 'secrets status',
    details:
      'Shows how many keys each master key wraps, the progress of each rotation of data keys, and the active API keys that would stop working without CAUDAL_KEY_PEPPER_PREVIOUS.',
    examples: ['caudal secrets status'],
  },
] as const satisfies readonly CatalogEntry[];
