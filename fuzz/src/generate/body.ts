import type { Body } from '../document/openapi.ts';
import { choose } from '../tenants/ring.ts';
import type { Context } from './context.ts';
import { corruptJson, hostileText, hostileValue } from './hostile.ts';
import { fromSchema, resolve, unknownId, validBody } from './valid.ts';

/** About two of five bodies are valid; the others have wrong members, or are not JSON at all. */
export function jsonBody(context: Context, body: Body): Buffer {
  const { random } = context;
  const value = validBody(context, body);
  if (random.chance(0.42)) return Buffer.from(JSON.stringify(value));
  if (random.chance(0.7)) {
    let mutated = value;
    for (let count = random.integer(1, 3); count > 0; count -= 1) mutated = mutate(context, mutated, body);
    return Buffer.from(JSON.stringify(mutated) ?? '');
  }
  return corruptJson(random, JSON.stringify(value));
}

function mutate(context: Context, value: unknown, body: Body): unknown {
  const { random, document } = context;
  if (typeof value !== 'object' || value === null || random.chance(0.03)) return hostileValue(random);
  const members = value as Record<string, unknown>;
  const names = Object.keys(members);
  const name = choose(random, names) ?? 'x';
  switch (random.integer(0, 6)) {
    case 0:
      delete members[name];
      return members;
    case 1:
      return { ...members, [hostileText(random).slice(0, 200)]: hostileValue(random) };
    case 2:
    case 3: {
      const inner = members[name];
      const goesDeeper = typeof inner === 'object' && inner !== null && random.chance(0.7);
      members[name] = goesDeeper ? mutate(context, inner, body) : hostileValue(random);
      return members;
    }
    case 4:
      members[name] = foreignValue(context);
      return members;
    case 5: {
      const { properties = {} } = resolve(document, body.schema);
      const added = choose(random, Object.keys(properties)) ?? 'x';
      members[added] = fromSchema(context, properties[added] ?? {}, added, document, 2);
      return members;
    }
    default:
      members[name] = hostileValue(random);
      return members;
  }
}

/** A value of the other organization. It may be stored and shown to this one from now on. */
function foreignValue(context: Context): string {
  const { random, other, ownership } = context;
  const kind = choose(random, [...other.pools.keys()]) ?? '';
  const value = other.pool(kind).pick(random) ?? unknownId(context);
  ownership.share(value);
  return value;
}

export function formBody(context: Context, body: Body, extra: Readonly<Record<string, string>>): Buffer {
  const { random } = context;
  const valid = { ...(validBody(context, body) as Record<string, string>), ...extra };
  if (random.chance(0.5)) valid['grant_type'] = 'client_credentials';
  if (random.chance(0.15)) valid['scope'] = random.chance(0.5) ? 'payins:read' : hostileText(random);
  const form = new URLSearchParams(valid);
  if (random.chance(0.15)) form.append(choose(random, [...form.keys()]) ?? 'x', hostileText(random));
  if (random.chance(0.1)) form.append(hostileText(random), hostileText(random));
  const text = form.toString();
  return random.chance(0.05) ? corruptJson(random, text) : Buffer.from(text);
}
