import type { FastifyRequest } from 'fastify';
import type { Method } from '../../flows/payment-links/open-attempt.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import { AUTHORIZATION_TEXT } from './messages.ts';
import { valuesOf } from './payer-form.ts';
import type { Asked, PersonType } from './screen.ts';

export type PageRequest = FastifyRequest<{ Params: { token: string }; Querystring: Record<string, string> }>;

/** Of the page that a form stands on: its answer comes from another address, which nobody can open. */
export function pagePath(request: PageRequest): string {
  return (request.url.split('?')[0] ?? '/').replace(/\/(?:begin|change|payer|live)$/, '');
}

/** The same page in another language, as far on the way as the payer is. */
export function inLanguage(request: PageRequest, language: 'es' | 'en'): string {
  const values = {
    ...valuesOf(request.query, WAY),
    ...valuesOf(request.body, WAY),
  };
  const { method, ...asked } = values;
  const question = new URLSearchParams({ ...(method ? { m: method } : {}), ...asked, lang: language });
  return `${pagePath(request)}?${question.toString()}`;
}

/** What leads to a screen before an attempt is begun. */
const WAY = ['m', 'method', 'bank', 'personType', 'again'];

export function methodOf(values: Readonly<Record<string, string>>): Method | null {
  const { method, bank, personType } = values;
  if (method === 'BRE_B') return { rail: 'BRE_B' };
  if (method !== 'PSE' || bank === undefined || !BANK_BY_CODE.has(bank)) return null;
  return personType === 'INDIVIDUAL' || personType === 'BUSINESS' ? { rail: 'PSE', bank, personType } : null;
}

export function askedOf(
  request: PageRequest,
  typed: Readonly<Record<string, string>>,
  paused: Asked['paused'],
): Asked {
  const asked = { ...request.query, ...(typed['method'] ? { m: typed['method'] } : {}), ...typed };
  const { m, bank, personType } = asked as Record<string, string | undefined>;
  const person: PersonType | null =
    personType === 'INDIVIDUAL' || personType === 'BUSINESS' ? personType : null;
  return {
    rail: m === 'BRE_B' || m === 'PSE' ? m : null,
    bank: bank !== undefined && BANK_BY_CODE.has(bank) ? bank : null,
    personType: person,
    again: request.query['again'] !== undefined,
    go: request.query['go'] !== undefined,
    mine: cookieOf(request, 'attempt'),
    paused,
  };
}

export function cookieOf(request: PageRequest, name: string): string | null {
  const pair = (request.headers.cookie ?? '').split(/;\s*/).find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? null;
}

export function authorizationOf(request: PageRequest) {
  return {
    textId: AUTHORIZATION_TEXT,
    address: request.ip,
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 300),
  };
}
