import type { Operation, Parameter } from '../document/openapi.ts';
import { choose } from '../tenants/ring.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { Context } from './context.ts';
import { hostileText } from './hostile.ts';
import { encode, spell } from './spelling.ts';
import { textFrom, unknownId } from './valid.ts';

/** The kinds of values (`Tenant.pool`) that fit a parameter, the best first. */
export function valueKinds(operation: Operation, { name, in: where }: Parameter): string[] {
  const [collection = ''] = operation.segments;
  if (name === 'id') return [collection];
  if (name === 'cursor') return [`cursor ${operation.id}`];
  if (name === 'after' || name === 'Last-Event-ID') return ['events'];
  if (name === 'resourceId') return ['payins', 'payouts', 'payment-links'];
  // `anomalyId` → `anomalies`, `paymentLinkId` → `payment-links` when that is the collection.
  const plural = name.replace(/Id$/, '').replace(/y$/, 'ie');
  return where === 'path' ? [name, `${plural}s`, collection] : [name, 'payment-links'];
}

export function pathOf(context: Context, operation: Operation): string {
  const segments = operation.segments.map((segment) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name);
    return parameter ? pathValue(context, operation, parameter) : segment;
  });
  return `/${segments.join('/')}`;
}

function pathValue(context: Context, operation: Operation, parameter: Parameter): string {
  const { random, tenant, other } = context;
  const chance = random.fraction();
  if (chance < 0.5) return encode(ownValue(context, tenant, operation, parameter));
  if (chance < 0.7) return encode(ownValue(context, other, operation, parameter));
  if (chance < 0.8) return encode(unknownId(context));
  if (chance < 0.93)
    return spell(random, ownValue(context, random.chance(0.5) ? tenant : other, operation, parameter));
  return encode(hostileText(random)).slice(0, 3000);
}

const TEST_KEYS = ['@TESTOK', '@TESTDECLINED', '@TESTNOTFOUND', '@TESTSUSPENDED', '3001234567'] as const;

function ownValue(context: Context, owner: Tenant, operation: Operation, parameter: Parameter): string {
  const { random } = context;
  if (parameter.name === 'keyString' && random.chance(0.5)) return random.pick(TEST_KEYS);
  const kind = choose(random, valueKinds(operation, parameter)) ?? '';
  return owner.pool(kind).pick(random) ?? unknownId(context);
}

export function queryOf(context: Context, operation: Operation): string {
  const { random } = context;
  const parts = operation.parameters
    .filter(({ in: where }) => where === 'query' && random.chance(0.35))
    .map((parameter) => `${parameter.name}=${queryValue(context, operation, parameter)}`);
  if (random.chance(0.04)) parts.push(`${encode(hostileText(random)).slice(0, 200)}=1`);
  if (random.chance(0.02)) parts.push(...parts);
  if (random.chance(0.01)) parts.push(`x=${'y'.repeat(random.integer(1, 20_000))}`);
  if (random.chance(0.02))
    parts.push(random.pick(['%', '%zz=1', '&&==', 'cursor[]=1', 'pageSize.x=1', '__proto__[a]=1']));
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function queryValue(context: Context, operation: Operation, parameter: Parameter): string {
  const { random, tenant, other } = context;
  const { name, schema } = parameter;
  const chance = random.fraction();
  if (chance < 0.12) return encode(hostileText(random)).slice(0, 3000);
  if (schema.enum) return encode(String(choose(random, schema.enum)));
  const owner = chance < 0.4 ? other : tenant;
  if (name === 'reference') return encode(owner.references.pick(random) ?? 'x');
  if (name === 'cursor' || schema.format === 'uuid') {
    const kind = choose(random, valueKinds(operation, parameter)) ?? '';
    const value = owner.pool(kind).pick(random) ?? unknownId(context);
    return chance < 0.2 || chance > 0.95 ? spell(random, value) : encode(value);
  }
  if (name === 'keyString') return encode(owner.pool('keyString').pick(random) ?? '@TESTOK');
  return encode(textFrom(context, schema, name));
}
