import { z } from 'zod';
import type { Delivery } from '../../flows/webhooks/read-events.ts';
import { FAILURE_REASONS } from '../../webhooks/sending/send-failure.ts';
import { timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';
import { EVENT_EXAMPLE_TIME, mapEvents } from './event-catalogue.ts';
import { EVENT_DATA } from './event-data.schema.ts';

/** The schema of an event's body, by event name. */
export const EVENT_SCHEMAS = mapEvents((event, { type }): z.ZodObject => {
  const [resource = ''] = event.split('.');
  return z
    .strictObject({
      id: z
        .uuid()
        .describe('Also sent as `webhook-id` with every delivery. An event may be delivered more than once.'),
      event: z.literal(event).describe('Name of the event.'),
      resource: z.literal(resource).describe('Type of the resource in `data`.'),
      createdAt: timestamp,
      data: EVENT_DATA[event]
        .meta({ id: `${type}Data` })
        .describe('The resource at the time of the event; its fields depend on `event`.'),
    })
    .meta({ id: `${type}Event` });
});

export const eventSchema = z
  .discriminatedUnion('event', Object.values(EVENT_SCHEMAS) as [z.ZodObject, ...z.ZodObject[]])
  .meta({
    id: 'Event',
    description: 'One of the events. New ones may be added: ignore events whose name you do not know.',
    discriminator: {
      propertyName: 'event',
      mapping: mapEvents((_, { type }) => `#/components/schemas/${type}Event`),
    },
  });

const attemptSchema = z.strictObject({
  at: timestamp,
  statusCode: z.int().nullable().describe('HTTP status of your response; null if there was none.'),
  durationMs: z.int(),
  error: z
    .enum(FAILURE_REASONS)
    .nullable()
    .describe(
      'Why there was no response; null if there was one, whatever its status. The webhooks guide explains each value.',
    ),
  answer: z.string().nullable().describe('The first bytes of your response, at most 512.'),
});

const delivery = {
  id: z.uuid(),
  eventId: z.uuid(),
  event: z.string(),
  status: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
  attempts: z.array(attemptSchema),
  nextAttemptAt: timestamp.nullable(),
};

const deliveryWithEndpoint = z
  .strictObject({ ...delivery, webhookEndpointId: z.uuid() })
  .meta({ id: 'DeliveryWithEndpoint' });

export const eventWithDeliveries = z
  .intersection(eventSchema, z.strictObject({ deliveries: z.array(deliveryWithEndpoint) }))
  .meta({ id: 'EventWithDeliveries' });

export const eventListSchema = z
  .strictObject({ data: z.array(eventSchema), pageInfo })
  .meta({ id: 'EventList' });

export const deliveryListSchema = z
  .strictObject({ data: z.array(z.strictObject(delivery)), pageInfo })
  .meta({ id: 'DeliveryList' });

export const EVENT_EXAMPLES = mapEvents((event, { example }) => ({
  id: '019b2c5e-b1c2-7d3e-8001-7a8b9c0d1e2f',
  event,
  resource: event.split('.')[0],
  createdAt: EVENT_EXAMPLE_TIME,
  // Keeps the fields that the event has, in its order.
  data: EVENT_DATA[event].strip().parse(example),
}));

export const EVENT_EXAMPLE = EVENT_EXAMPLES['payin.confirmed'];

export const DELIVERY_EXAMPLE = {
  id: '5b0f7c9e-3a51-4c0e-9a58-0a2f3c4d5e6f',
  eventId: EVENT_EXAMPLE.id,
  event: EVENT_EXAMPLE.event,
  status: 'DELIVERED',
  attempts: [{ at: '2026-11-14T15:06:08.010Z', statusCode: 200, durationMs: 84, error: null, answer: 'ok' }],
  nextAttemptAt: null,
} as const;

export function deliveryView(each: Delivery) {
  return {
    id: each.deliveryId,
    eventId: each.id,
    event: each.event,
    status: each.status,
    attempts: each.attempts.map(({ at, ...rest }) => ({ at: at.toISOString(), ...rest })),
    nextAttemptAt: each.nextAttemptAt?.toISOString() ?? null,
  };
}
