import { readFileSync } from 'node:fs';
import * as sdk from '@caudal/sdk';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync(new URL('../guides/sdk.md', import.meta.url), 'utf8');

/** Names in the first column of the table with this header cell, in the section with this heading. */
function tableNames(heading: string, header: string): string[] {
  const section = PAGE.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const start = section.indexOf(`| ${header} |`);
  expect({ heading, header, found: start >= 0 }).toEqual({ heading, header, found: true });
  const [table = ''] = section.slice(start).replace(/^.*\n/, '').split('\n\n');
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? '').sort();
}

/** Member names of an interface of the SDK's source, with those of the interfaces it extends. */
function memberNames(file: string, name: string): string[] {
  const source = readFileSync(new URL(`../../sdk/src/${file}.ts`, import.meta.url), 'utf8');
  const pattern = new RegExp(
    `export interface ${name}(?:<[^{]*>)?(?: extends (\\w+))? \\{\\n([\\s\\S]*?)\\n\\}`,
  );
  const [, parent, body = ''] = pattern.exec(source) ?? [];
  const own = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member]) => member ?? '');
  expect({ name, empty: own.length === 0 }).toEqual({ name, empty: false });
  return [...own, ...(parent === undefined ? [] : memberNames(file, parent))].sort();
}

describe('the SDK page', () => {
  it.each([
    ['Client options', 'Option', 'client-options', 'CaudalOptions'],
    ['Call options', 'Option', 'call-options', 'KeyedCallOptions'],
    ['Response metadata', '`response`', 'response-metadata', 'ResponseMetadata'],
    ['Response metadata', 'Rate limit', 'response-metadata', 'RateLimit'],
    ['Logs and metrics', 'Field', 'hooks', 'ResponseEvent'],
    ['Webhooks', 'Option', 'webhook-handler', 'ReceiverOptions'],
    ['Event stream', 'Option', 'event-stream', 'StreamOptions'],
  ])('lists under "%s" (%s) exactly the members of %s.ts %s', (heading, header, file, name) => {
    expect(tableNames(heading, header)).toEqual(memberNames(file, name));
  });

  it('lists exactly the methods of the client', () => {
    const rows = [...PAGE.matchAll(/^\| `(\w+)` \| ((?:`\w+` ?)+)\|$/gm)].map(([, resource, methods]) => [
      resource,
      [...(methods ?? '').matchAll(/\w+/g)].map(([name]) => name).sort(),
    ]);
    const client = new sdk.Caudal({ apiKey: 'cdl_test_x' });
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(
        Object.entries(client).map(([name, resource]) => [name, methodNames(resource as object)]),
      ),
    );
  });

  it('lists exactly the error classes', () => {
    const classes = Object.entries(sdk).flatMap(([name, value]) =>
      typeof value === 'function' && value.prototype instanceof sdk.CaudalError ? [name] : [],
    );
    expect(tableNames('Errors', 'Class')).toEqual(classes.sort());
  });

  it('lists exactly the reasons of a failed verification', () => {
    const source = readFileSync(new URL('../../sdk/src/webhook-signature.ts', import.meta.url), 'utf8');
    const [, union = ''] = /export type VerificationReason =([\s\S]*?);/.exec(source) ?? [];
    const reasons = [...union.matchAll(/\| '(\w+)'/g)].map(([, reason]) => reason ?? '');
    expect(tableNames('Verification errors', '`reason`')).toEqual(reasons.sort());
  });
});

function methodNames(resource: object): string[] {
  const names = new Set<string>();
  for (let each = resource; each !== Object.prototype; each = Object.getPrototypeOf(each) as object)
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  names.delete('constructor');
  return [...names].sort();
}
