import type { Operation } from '../document/openapi.ts';
import { findOperation } from '../document/route.ts';
import { INJECTED_TAG } from '../generate/hostile.ts';
import type { FuzzRequest } from '../generate/request.ts';
import type { Rule } from '../oracle/violation.ts';
import { findMarkedWords, otherName, type Tenant, type TenantName } from '../tenants/tenant.ts';
import type { Answer } from '../wire/answer.ts';

/** A defect that is planted in responses, and the rule that must detect it. */
export interface Corruption {
  readonly name: string;
  readonly rule: Rule;
  /** @returns null where the defect cannot be planted */
  readonly apply: (request: FuzzRequest, answer: Answer, stage: CorruptedStage) => Answer | null;
}

type CorruptedStage = Readonly<Record<TenantName, Tenant>> & { readonly operations: readonly Operation[] };

export const CORRUPTIONS: readonly Corruption[] = [
  {
    name: 'an id of the other organization',
    rule: 'foreign data',
    apply: ({ tenant }, answer, tenants) =>
      tenant === 'a' || tenant === 'b'
        ? replaceText(answer, tenants[tenant].organizationId, tenants[otherName(tenant)].organizationId)
        : null,
  },
  {
    name: 'a text of the other organization',
    rule: 'foreign data',
    apply: (request, answer, tenants) => {
      const { tenant } = request;
      if ((tenant !== 'a' && tenant !== 'b') || !isJson(answer)) return null;
      const [word] = findMarkedWords(tenant, answer.body.toString('utf8'));
      if (word === undefined || !/^\w+-\d+/.test(word)) return null;
      return replaceText(answer, word, `${tenants[otherName(tenant)].word}-999999999`);
    },
  },
  {
    name: 'a stack trace',
    rule: 'internal detail',
    apply: (_, answer) =>
      replaceText(answer, '"detail":"', '"detail":"at run (/app/server/src/http/app.ts:1:2) '),
  },
  {
    name: 'an SQL statement',
    rule: 'internal detail',
    apply: (_, answer) => replaceText(answer, '"detail":"', '"detail":"insert into caudal.payins '),
  },
  {
    name: 'status 418',
    rule: 'undocumented status',
    apply: ofOperation((answer) => ({ ...answer, status: 418 })),
  },
  { name: 'status 500', rule: 'server error', apply: (_, answer) => ({ ...answer, status: 500 }) },
  {
    name: 'a missing member',
    rule: 'schema',
    apply: (request, answer) =>
      request.subject.startsWith('get') && answer.status === 200
        ? replaceText(answer, /"(\w+)":/, '"x$1":')
        : null,
  },
  {
    name: 'a problem without requestId',
    rule: 'invalid problem',
    apply: (_, answer) => replaceText(answer, '"requestId":', '"requestIdentifier":'),
  },
  {
    name: 'a code that the operation does not have',
    rule: 'undocumented problem code',
    // A hostile path may address no operation, and then no code is documented.
    apply: (request, answer, { operations }) =>
      request.subject.startsWith('list') &&
      isProblem(answer) &&
      findOperation(operations, request.method, request.target) !== null
        ? replaceText(answer, /"code":"\w+","requestId"/, '"code":"payout_ended","requestId"')
        : null,
  },
  {
    name: 'another content type',
    rule: 'undocumented content type',
    apply: ofOperation((answer) => ({
      ...answer,
      head: answer.head.replace(/application\/[\w+]*json/, 'text/plain'),
    })),
  },
  {
    name: 'a tag that is not escaped',
    rule: 'unescaped text',
    apply: (_, answer) =>
      isIdentity(answer) && /content-type: text\/html/i.test(answer.head) && answer.body.length > 0
        ? { ...answer, body: Buffer.concat([answer.body, Buffer.from(INJECTED_TAG)]) }
        : null,
  },
  { name: 'a late response', rule: 'slow', apply: (_, answer) => ({ ...answer, ms: 6000 }) },
];

function ofOperation(change: (answer: Answer) => Answer): Corruption['apply'] {
  return (request, answer) =>
    /^(?:get|list|create)/.test(request.subject) && isJson(answer) && answer.status !== 431
      ? change(answer)
      : null;
}

function isJson(answer: Answer): boolean {
  return /content-type: application\/[\w+]*json/i.test(answer.head) && answer.body.length > 0;
}

function isProblem(answer: Answer): boolean {
  return /content-type: application\/problem\+json/i.test(answer.head) && answer.status !== 431;
}

function isIdentity(answer: Answer): boolean {
  return !/content-encoding:/i.test(answer.head);
}

function replaceText(answer: Answer, search: string | RegExp, replacement: string): Answer | null {
  if (!isJson(answer)) return null;
  const text = answer.body.toString('utf8');
  const changed = text.replace(search, replacement);
  return changed === text ? null : { ...answer, body: Buffer.from(changed) };
}
