import type { FastifyRequest } from 'fastify';
import type { Method } from '../../flows/payment-links/open-attempt.ts';
import { RAILS } from '../../rails/contract.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import { parseCookies } from './attempt-cookies.ts';
import { AUTHORIZATION_TEXT_ID } from './messages.ts';
import { pickFields } from './payer-form.ts';
import type { PersonType, ScreenInput } from './screen.ts';

export type PageRequest = FastifyRequest<{ Params: { token: string }; Querystring: Record<string, string> }>;

/** Path of the page that contains the form: the form's own action path cannot be opened with GET. */
export function pagePath(request: PageRequest): string {
  return (request.url.split('?')[0] ?? '/').replace(/\/(?:begin|change|payer|language|live|email)$/, '');
}

/** The language that the payer switched to, now or earlier. */
export function chosenLanguage(request: PageRequest): 'es' | 'en' | null {
  const { lang } = pickFields(request.body, ['lang']);
  const chosen = request.query['lang'] ?? lang ?? readCookies(request).get('lang');
  return chosen === 'es' || chosen === 'en' ? chosen : null;
}

/**
 * URL of the same page in another language, at the same step. It contains only known values: in a compressed page,
 * text chosen by an attacker would help to guess secrets of the page (decision 0042).
 */
export function urlInLanguage(request: PageRequest, language: 'es' | 'en'): string {
  const { m, method, bank, personType, again } = {
    ...pickFields(request.query, STEP_FIELDS),
    ...pickFields(request.body, STEP_FIELDS),
  };
  const rail = RAILS.find((each) => each === (method ?? m));
  const query = new URLSearchParams({
    ...(rail ? { m: rail } : {}),
    ...(bank !== undefined && BANK_BY_CODE.has(bank) ? { bank } : {}),
    ...(personType === 'INDIVIDUAL' || personType === 'BUSINESS' ? { personType } : {}),
    ...(again === undefined ? {} : { again: '1' }),
    lang: language,
  });
  return `${pagePath(request)}?${query.toString()}`;
}

/** Fields that select a step before an attempt starts. */
const STEP_FIELDS = ['m', 'method', 'bank', 'personType', 'again'];

export function parseMethod(values: Readonly<Record<string, string>>): Method | null {
  const { method, bank, personType } = values;
  if (method === 'BRE_B') return { rail: 'BRE_B' };
  if (method !== 'PSE' || bank === undefined || !BANK_BY_CODE.has(bank)) return null;
  return personType === 'INDIVIDUAL' || personType === 'BUSINESS' ? { rail: 'PSE', bank, personType } : null;
}

export function readScreenInput(
  request: PageRequest,
  formValues: Readonly<Record<string, string>>,
  ownAttemptIds: ScreenInput['ownAttemptIds'],
  offeredRails: ScreenInput['offeredRails'],
): ScreenInput {
  const values = {
    ...request.query,
    ...(formValues['method'] ? { m: formValues['method'] } : {}),
    ...formValues,
  };
  const { m, bank, personType, step } = values as Record<string, string | undefined>;
  const person: PersonType | null =
    personType === 'INDIVIDUAL' || personType === 'BUSINESS' ? personType : null;
  return {
    rail: m === 'BRE_B' || m === 'PSE' ? m : null,
    // The language switch of the bank screen sends a bank that the payer has not submitted yet.
    bank: step !== 'bank' && bank !== undefined && BANK_BY_CODE.has(bank) ? bank : null,
    personType: person,
    restart: request.query['again'] !== undefined,
    justStarted: request.query['go'] !== undefined,
    saysPaid: request.query['paid'] !== undefined,
    ownAttemptIds,
    offeredRails,
  };
}

export function readCookies(request: PageRequest): ReadonlyMap<string, string> {
  return parseCookies(request.headers.cookie ?? '');
}

export function toAuthorization(request: PageRequest) {
  return {
    textId: AUTHORIZATION_TEXT_ID,
    address: request.ip,
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 300),
  };
}
