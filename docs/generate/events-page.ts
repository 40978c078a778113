import type {
  OpenApiDocument,
  OperationObject,
  RequestBodyObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { preferredMedia } from './curl-example.ts';
import { fieldsList } from './fields-list.ts';
import { block, code, parts, prose, table } from './markdown.ts';
import type { Page } from './page.ts';
import { lookUpSchema } from './references.ts';
import { listFields } from './schema-fields.ts';

/** One section per webhook of the OpenAPI document. */
export function eventsPage(document: OpenApiDocument): Page {
  const events = Object.entries(document.webhooks ?? {}).flatMap(([name, { post }]) =>
    post === undefined ? [] : [{ name, post }],
  );
  return {
    slug: 'reference/events',
    title: 'Events',
    description: 'Every event, when it is sent and its exact contents.',
    body: parts(
      'Exactly one event reports the final outcome of a payin, a payout or a payment link. Its body is the same in a webhook, in `GET /events` and in the live stream; `data` is a snapshot taken in the transaction of the outcome. New events and new fields may be added: ignore those you do not know. How to receive them: [webhooks](/docs/guides/webhooks). Their order: [events](/docs/concepts/events).',
      table(
        ['Event', 'When'],
        events.map(({ name, post }) => [
          `[${code(name)}](#${name.replaceAll('.', '')})`,
          prose(post.description),
        ]),
      ),
      ...events.map(({ name, post }) => eventSection(document, name, post)),
    ),
  };
}

function eventSection(document: OpenApiDocument, name: string, operation: OperationObject): string {
  const { content } = operation.requestBody as RequestBodyObject;
  const [, media] = preferredMedia(content) ?? [];
  const { $ref = '' } = (media?.schema ?? {}) as { readonly $ref?: string };
  const { data = true } = lookUpSchema(document, $ref).properties ?? {};
  return parts(
    `## ${name}`,
    prose(operation.description),
    block('json', JSON.stringify(media?.example, null, 2)),
    'Fields of `data`:',
    fieldsList(listFields(document, data), 'response'),
  );
}
