import { z } from 'zod';
import { EVENT_NAMES } from '../../events/event.ts';
import type { Endpoint } from '../../webhooks/endpoint.ts';
import { fieldIssue, formatNamed, text, timestamp } from '../fields.ts';

const FORBIDDEN_HEADER =
  /^(?:webhook-.*|content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|proxy-.*)$/i;

/** Null is what answers say of each that was left out: it may be sent back as it came. */
export const staticHeader = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, formatNamed('header_name'))
      .refine((name) => !FORBIDDEN_HEADER.test(name), fieldIssue('reserved_header'))
      .describe('Name of the header.')
      .meta({ example: 'x-tenant' }),
    value: z
      .string()
      .regex(/^[\x20-\x7e]{1,500}$/, formatNamed('header_value'))
      .describe('Its value, 1 to 500 printable ASCII characters. It is encrypted at rest.'),
  })
  .nullable()
  .optional()
  .describe('A header that every delivery carries, for instance one that your gateway wants.');

export const eventNames = z
  .array(z.enum(EVENT_NAMES))
  .min(1)
  .max(EVENT_NAMES.length)
  .transform((names) => [...new Set(names)])
  .nullable()
  .optional();

export const description = text(1, 200)
  .nullable()
  .optional()
  .describe('For your own eyes, 1 to 200 characters.');

const fields = {
  id: z.uuid(),
  url: z.string(),
  events: z.array(z.enum(EVENT_NAMES)).nullable().describe('Null: all.'),
  description: z.string().nullable(),
  staticHeader: z
    .strictObject({ name: z.string() })
    .nullable()
    .describe('Only its name: the value is not shown again.'),
  status: z.enum(['ENABLED', 'DISABLED']),
  disabledReason: z
    .string()
    .nullable()
    .describe(
      'Null while it is enabled. Else `by_owner`, or why the service did it: `gone`, `no_success_5d`.',
    ),
  createdAt: timestamp,
  updatedAt: timestamp,
};

export const endpointSchema = z.strictObject(fields).meta({ id: 'WebhookEndpoint' });

export const endpointWithSecret = z
  .strictObject({ ...fields, secret: z.string().describe('Signs every delivery. Shown only here: keep it.') })
  .meta({ id: 'WebhookEndpointWithSecret' });

export const ENDPOINT_EXAMPLE = {
  id: '019b2c5e-a1b2-7c3d-8001-6f7e8d9c0b1a',
  url: 'https://shop.example.com/webhooks/caudal',
  events: ['payin.confirmed', 'payout.confirmed'],
  description: 'Orders',
  staticHeader: null,
  status: 'ENABLED',
  disabledReason: null,
  createdAt: '2026-11-14T15:04:05.678Z',
  updatedAt: '2026-11-14T15:04:05.678Z',
} as const;

export const SECRET_EXAMPLE = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** The endpoint as its merchant sees it. */
export function endpointView(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    staticHeader: endpoint.staticHeader && { name: endpoint.staticHeader.name },
    status: endpoint.status,
    disabledReason: endpoint.disabledReason,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}
