import type { CatalogEntry } from './description.ts';
import { RESTRICTION_OPTIONS } from './keys.ts';
import { BY, ORGANIZATION, REASON } from './shared-options.ts';

const LEGAL_NAME = {
  name: 'legal-name',
  value: 'NAME',
  summary: 'registered company name, shown to payers',
} as const;

const TAX_ID = {
  name: 'tax-id',
  value: 'NIT',
  summary: 'NIT with its check digit, shown to payers, such as 900123456-8',
} as const;

export const ORGANIZATION_COMMANDS = [
  {
    name: 'org create',
    audit: 'with_change',
    summary: 'create an organization and print its first API key',
    usage:
      "org create --name NAME --support CONTACT --by NAME [--accent '#0f766e'] [--rails BRE_B,PSE] [--city BOGOTA] [--postal-code 110111] [--category 5999] [--amount-policy EXACT|ANY] [--legal-name NAME] [--tax-id NIT]",
    options: [
      { name: 'name', value: 'NAME', summary: 'name shown to payers', required: true },
      {
        name: 'support',
        value: 'CONTACT',
        summary: 'support contact for payers: email addresses, phone numbers or https URLs, comma-separated',
        required: true,
      },
      BY,
      { name: 'accent', value: 'COLOR', summary: 'color of its checkout pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'enabled rails, comma-separated (default: all)' },
      { name: 'city', value: 'CITY', summary: 'city in its QR codes (default: BOGOTA)' },
      { name: 'postal-code', value: 'CODE', summary: 'postal code in its QR codes (default: 110111)' },
      { name: 'category', value: 'CODE', summary: 'ISO 18245 merchant category code (default: 5999)' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary:
          'EXACT: only the requested amount confirms a direct payin; ANY: every amount does (default: EXACT)',
        choices: ['EXACT', 'ANY'],
      },
      LEGAL_NAME,
      TAX_ID,
    ],
    details:
      'The API key has all scopes. It is shown once and not stored: keep it, or create another with "keys create".',
    examples: ["caudal org create --by ana --name 'Tienda Aurora' --support ayuda@tienda-aurora.example"],
  },
  {
    name: 'org list',
    audit: 'none',
    summary: 'list organizations with their ids',
    usage: 'org list',
    examples: ['caudal org list'],
  },
  {
    name: 'org limits',
    audit: 'with_change',
    changesWith: ['writes', 'reads'],
    summary: 'show or set the request rate limits of an organization',
    usage: 'org limits ID [--writes N|default] [--reads N|default] [--by NAME]',
    options: [
      { name: 'writes', value: 'N', summary: 'write requests per second; 0 for no limit' },
      { name: 'reads', value: 'N', summary: 'read requests per second; 0 for no limit' },
      { ...BY, summary: `${BY.summary}; required to set a limit`, required: false },
    ],
    args: [ORGANIZATION],
    details:
      'Each API process enforces the limits separately; changes apply within a second. "default" restores the limits of the deployment (CAUDAL_WRITES_PER_SECOND, CAUDAL_READS_PER_SECOND).',
    examples: [
      'caudal org limits 01990000-0000-7000-8000-000000000000',
      'caudal org limits 01990000-0000-7000-8000-000000000000 --writes 500 --reads default --by ana',
    ],
  },
  {
    name: 'org payout-limits',
    audit: 'with_change',
    changesWith: [
      'per-day-amount',
      'per-day-count',
      'receiver-day-amount',
      'receiver-day-count',
      'new-receiver-hold',
    ],
    summary: 'show or set the payout limits of an organization or of one API key',
    usage:
      'org payout-limits ID [--key KEY_ID] [--per-day-amount PESOS|none] [--per-day-count N|none] [--receiver-day-amount PESOS|none] [--receiver-day-count N|none] [--new-receiver-hold TIME|none] [--by NAME]',
    options: [
      { name: 'key', value: 'KEY_ID', summary: 'one API key instead of the organization (see keys list)' },
      { name: 'per-day-amount', value: 'PESOS', summary: 'sum of the payouts of a day' },
      { name: 'per-day-count', value: 'N', summary: 'number of payouts of a day' },
      { name: 'receiver-day-amount', value: 'PESOS', summary: 'sum of the payouts to one receiver in a day' },
      { name: 'receiver-day-count', value: 'N', summary: 'number of payouts to one receiver in a day' },
      {
        name: 'new-receiver-hold',
        value: 'TIME',
        summary: 'how long the first payout to a new receiver waits, such as 30m, 24h or 2d',
      },
      { ...BY, summary: `${BY.summary}; required to set a limit`, required: false },
    ],
    args: [ORGANIZATION],
    details:
      'The limits of the organization and those of the API key both apply. Days are days in Bogotá. A payout above a limit is created and declined with ORGANIZATION_LIMIT_EXCEEDED; declined and canceled payouts do not count. 0 allows nothing, "none" removes a limit. A new limit applies to the next payout; payouts of today count already. Without a limit the command prints the limits and today\'s usage.',
    examples: [
      'caudal org payout-limits 01990000-0000-7000-8000-000000000000',
      'caudal org payout-limits 01990000-0000-7000-8000-000000000000 --per-day-amount 50000000 --new-receiver-hold 24h --by ana',
      'caudal org payout-limits 01990000-0000-7000-8000-000000000000 --key 0100000000000000 --per-day-count 200 --by ana',
    ],
  },
  {
    name: 'org update',
    audit: 'with_change',
    summary: 'change what payers see of an organization, its rails or its amount policy',
    usage:
      "org update ID --by NAME [--name NAME] [--support CONTACT] [--accent '#0f766e'] [--rails BRE_B,PSE] [--amount-policy EXACT|ANY] [--legal-name NAME] [--tax-id NIT] [--verified yes|no] [--logo FILE|none]",
    options: [
      BY,
      { name: 'name', value: 'NAME', summary: 'name shown to payers' },
      { name: 'support', value: 'CONTACT', summary: 'support contact for payers' },
      { name: 'accent', value: 'COLOR', summary: 'color of its checkout pages, such as #0f766e' },
      { name: 'rails', value: 'LIST', summary: 'enabled rails, comma-separated' },
      {
        name: 'amount-policy',
        value: 'POLICY',
        summary: 'how payments of a different amount are handled',
        choices: ['EXACT', 'ANY'],
      },
      LEGAL_NAME,
      TAX_ID,
      {
        name: 'verified',
        value: 'ANSWER',
        summary: 'whether you checked legal name and NIT against documents; payers see that you did',
        choices: ['yes', 'no'],
      },
      {
        name: 'logo',
        value: 'FILE',
        summary: 'PNG or JPEG of at most 512 KB and 2 megapixels; "none" removes the logo',
      },
    ],
    args: [ORGANIZATION],
    details:
      'Other fields stay unchanged. A rail that is removed rejects new payments (400 rail_not_enabled); open payins can still be paid. The logo is encoded again in three sizes on a white square; the file itself is not stored. A new name, legal name or NIT is not verified until you say so again. API processes apply changes within a second, checkout pages within ten.',
    examples: [
      "caudal org update 01990000-0000-7000-8000-000000000000 --by ana --support ayuda@aurora.example --accent '#1d4ed8'",
      'caudal org update 01990000-0000-7000-8000-000000000000 --by ana --rails BRE_B',
      "caudal org update 01990000-0000-7000-8000-000000000000 --by ana --legal-name 'Aurora S.A.S.' --tax-id 900123456-8 --verified yes",
      'caudal org update 01990000-0000-7000-8000-000000000000 --by ana --logo aurora.png',
    ],
  },
  {
    name: 'org show',
    audit: 'none',
    summary: 'show an organization: details, limits, suspension and waiting payouts',
    usage: 'org show ID',
    args: [ORGANIZATION],
    examples: ['caudal org show 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'org suspend',
    audit: 'with_change',
    summary: 'suspend an organization: reject its creations and hold its payouts',
    usage: 'org suspend ID --by NAME --reason TEXT',
    options: [BY, REASON],
    args: [ORGANIZATION],
    details:
      'Within a second every API process rejects new payins, payouts and payment links, key lookups and new attempts to pay a link (403 organization_suspended). Once the command returns, no more payouts of the organization are sent; unsent payouts wait. Reads and webhooks continue, open payins can still be paid, and sent payouts continue to their final state.',
    examples: [
      "caudal org suspend 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden judicial 2026-114'",
    ],
  },
  {
    name: 'org resume',
    audit: 'with_change',
    summary: 'lift the suspension of an organization and send its waiting payouts',
    usage: 'org resume ID --by NAME --reason TEXT',
    options: [BY, REASON],
    args: [ORGANIZATION],
    examples: ["caudal org resume 01990000-0000-7000-8000-000000000000 --by ana --reason 'orden levantada'"],
  },
  {
    name: 'keys create',
    audit: 'with_change',
    summary: 'create another API key for an organization and print it once',
    usage:
      'keys create --org ID --name NAME --by NAME [--scopes payins:read,payins:write] [--days N] [--allow-from LIST] [--writes-per-second N] [--reads-per-second N]',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
      { name: 'name', value: 'NAME', summary: 'name of the key, such as its purpose', required: true },
      BY,
      { name: 'scopes', value: 'LIST', summary: 'scopes, comma-separated (default: all)' },
      { name: 'days', value: 'N', summary: 'days until the key expires (default: never)' },
      ...RESTRICTION_OPTIONS,
    ],
    details:
      'Scopes: payins:read, payins:write, payouts:read, payouts:write, payment_links:read, payment_links:write, breb_keys:read, events:read, events:write, webhooks:read, webhooks:write, balance:read.',
    examples: [
      'caudal keys create --org 01990000-0000-7000-8000-000000000000 --name reports --by ana --scopes payins:read,balance:read --days 90',
      'caudal keys create --org 01990000-0000-7000-8000-000000000000 --name payouts --by ana --scopes payouts:write,payouts:read --allow-from 203.0.113.0/24 --writes-per-second 5',
    ],
  },
  {
    name: 'keys list',
    audit: 'none',
    summary: 'list the API keys of an organization, without their secrets',
    usage: 'keys list --org ID',
    options: [
      { name: 'org', value: 'ID', summary: 'the id of an organization (see org list)', required: true },
    ],
    examples: ['caudal keys list --org 01990000-0000-7000-8000-000000000000'],
  },
  {
    name: 'keys revoke',
    audit: 'with_change',
    summary: 'revoke an API key and its tokens, effective within a second',
    usage: 'keys revoke KEY_ID --by NAME',
    options: [BY],
    args: [{ name: 'KEY_ID', summary: 'the id of an API key (see keys list)' }],
    details: 'A revocation cannot be undone: create a replacement with "keys create".',
    examples: ['caudal keys revoke 0100000000000000 --by ana'],
  },
] as const satisfies readonly CatalogEntry[];
