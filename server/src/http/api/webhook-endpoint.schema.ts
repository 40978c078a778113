import { z } from 'zod';
import { EVENT_NAMES } from '../../events/event.ts';
import { DISABLED_REASONS, type Endpoint } from '../../webhooks/endpoint.ts';
import { fieldIssue, formatIssue, freeText, timestamp } from '../fields.ts';

const FORBIDDEN_HEADER =
  /^(?:webhook-.*|content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|proxy-.*)$/i;

/** Accepts null, because responses show null for fields that are not set and clients may send them back. */
export const staticHeader = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, formatIssue('header_name'))
      .refine((name) => !FORBIDDEN_HEADER.test(name), fieldIssue('reserved_header'))
      .describe('Name of the header.')
      .meta({ example: 'x-tenant' }),
    value: z
      .string()
      .regex(/^[\x20-\x7e]{1,500}$/, formatIssue('header_value'))
      .describe('Value of the header, 1 to 500 printable ASCII characters. Encrypted at rest.'),
  })
  .nullable()
  .optional()
  .describe('A header added to every delivery, for example one that your gateway requires.');

export const eventNames = z
  .array(z.enum(EVENT_NAMES))
  .min(1)
  .max(EVENT_NAMES.length)
  .transform((names) => [...new Set(names)])
  .nullable()
  .optional();

export const description = freeText(1, 200)
  .nullable()
  .optional()
  .describe('For your own use, 1 to 200 characters.');

const fields = {
  id: z.uuid(),
  url: z.string(),
  events: z.array(z.enum(EVENT_NAMES)).nullable().describe('Null: all events.'),
  description: z.string().nullable(),
  staticHeader: z
    .strictObject({ name: z.string() })
    .nullable()
    .describe('Only the name: the value is never shown.'),
  status: z.enum(['ENABLED', 'DISABLED']),
  disabledReason: z
    .enum(DISABLED_REASONS)
    .nullable()
    .describe(
      'Null while enabled. `by_owner`: you disabled it. `gone`: it responded 410. `no_success_5d`: no delivery succeeded for five days.',
    ),
  createdAt: timestamp,
  updatedAt: timestamp,
};

export const endpointSchema = z.strictObject(fields).meta({ id: 'WebhookEndpoint' });

export const endpointWithSecret = z
  .strictObject({
    ...fields,
    secret: z.string().describe('Signs every delivery. Shown only once: store it.'),
  })
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

/** The endpoint as shown to the merchant. */
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
