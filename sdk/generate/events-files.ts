import type { ApiDocument } from './document.ts';
import { NAMED } from './surface.ts';
import { comment, schemaAt } from './type-text.ts';

/** The names of the events that an endpoint can subscribe to, as data. */
export function eventNamesFile(document: ApiDocument): string {
  return `${comment(['Every event that an endpoint can subscribe to.'])}export const EVENT_NAMES = ${JSON.stringify(eventNames(document))} as const;`;
}

/** The examples of the webhooks of openapi.json, used by SDK test deliveries. */
export function samplesFile(document: ApiDocument): string {
  const samples = eventNames(document).map((name) => {
    const example = document.webhooks[name]?.post.requestBody.content['application/json']?.example;
    if (example === undefined) throw new Error(`openapi.json has no webhook ${name} with an example`);
    return [name, example];
  });
  const type = '{ readonly [Name in EventName]: EventNamed<Name> }';
  return `import type { EventNamed } from '../event.ts';\nimport type { EventName } from './schemas.ts';\n\n${comment(['The example of each event.'])}export const EVENT_SAMPLES: ${type} = ${JSON.stringify(Object.fromEntries(samples))};`;
}

function eventNames(document: ApiDocument): readonly string[] {
  return (schemaAt(document, NAMED['EventName'] ?? '').enum ?? []) as readonly string[];
}
