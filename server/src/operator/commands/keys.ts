import type { CatalogEntry } from './description.ts';
import { BY } from './shared-options.ts';

const KEY_ID = { name: 'KEY_ID', summary: 'the id of an API key (see keys list)' } as const;

/** Options that restrict an API key. */
export const RESTRICTION_OPTIONS = [
  {
    name: 'allow-from',
    value: 'LIST',
    summary: 'addresses or CIDR networks it may be used from, comma-separated; "any" for no restriction',
  },
  {
    name: 'writes-per-second',
    value: 'N',
    summary:
      'write requests per second of this key, besides the limit of its organization; "none" for no own limit',
  },
  {
    name: 'reads-per-second',
    value: 'N',
    summary: 'read requests per second of this key; "none" for no own limit',
  },
] as const;

export const KEY_COMMANDS = [
  {
    name: 'keys update',
    audit: 'with_change',
    summary: 'change where an API key may be used from, and its own rate limits',
    usage:
      'keys update KEY_ID --by NAME [--allow-from LIST|any] [--writes-per-second N|none] [--reads-per-second N|none]',
    options: [BY, ...RESTRICTION_OPTIONS],
    args: [KEY_ID],
    details:
      'Restrictions that are not given stay unchanged. They also apply to the access tokens of the key. API processes apply changes within a second and enforce rate limits separately. Requests from other addresses get 403 address_not_allowed. Behind a proxy, CAUDAL_TRUSTED_PROXIES must name it: otherwise every request has its address.',
    examples: [
      'caudal keys update 0100000000000000 --by ana --allow-from 203.0.113.0/24,2001:db8:1::/48',
      'caudal keys update 0100000000000000 --by ana --writes-per-second 5 --allow-from any',
    ],
  },
  {
    name: 'keys activity',
    audit: 'none',
    summary: 'list what an API key created, changed and moved, and the networks it was used from',
    usage: 'keys activity KEY_ID [--since TIME] [--until TIME]',
    options: [
      {
        name: 'since',
        value: 'TIME',
        summary: 'from this day (midnight in Bogotá) or time on (default: the creation of the key)',
      },
      {
        name: 'until',
        value: 'TIME',
        summary: 'before this day (midnight in Bogotá) or time (default: now)',
      },
    ],
    args: [KEY_ID],
    details:
      'Includes what access tokens of the key did, also after its revocation. Payouts marked "unsent" can still be canceled: POST /payouts/ID/cancel with another API key of the organization. Rows written before migration 0014 name no API key and are not listed. Lists the newest 1,000 rows of each kind in the time range, oldest first; on a busy organization a range of months takes minutes. Personal data is not shown.',
    examples: ['caudal keys activity 0100000000000000 --since 2026-11-16T14:00:00Z'],
  },
] as const satisfies readonly CatalogEntry[];
