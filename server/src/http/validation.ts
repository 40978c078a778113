import type { z } from 'zod';
import type { Language } from '../kit/error-catalogue.ts';
import { ApiError, type FieldError } from '../kit/errors.ts';
import type { UrlRule } from '../kit/url-rules.ts';
import type { FieldCode, FormatName, UrlFieldCode } from './fields.ts';

type Issue = z.core.$ZodIssue;

type Translations = Readonly<Record<Language, string>>;

/** Keys that other modules refer to: a missing message is a type error. */
type RequiredKey = FieldCode | `format.${FormatName}` | `url.${UrlRule}`;

/** Messages of field errors. The broken rule fills the `{…}` placeholders. */
const MESSAGES = {
  required: { en: 'This field is required.', es: 'Este campo es obligatorio.' },
  unknown_field: {
    en: 'There is no such field or parameter here.',
    es: 'Ese campo o parámetro no existe aquí.',
  },
  invalid_type: { en: 'Must be {expected}.', es: 'Debe ser {expected}.' },
  too_small: { en: 'Must be at least {limit}.', es: 'Debe ser mínimo {limit}.' },
  too_big: { en: 'Must be at most {limit}.', es: 'Debe ser máximo {limit}.' },
  too_short: { en: 'Must have at least {limit} characters.', es: 'Debe tener mínimo {limit} caracteres.' },
  too_long: { en: 'Must have at most {limit} characters.', es: 'Debe tener máximo {limit} caracteres.' },
  // No list requires more than one entry.
  too_few: { en: 'Must have at least one entry.', es: 'Debe tener al menos un elemento.' },
  too_many: { en: 'Must have at most {limit} entries.', es: 'Debe tener máximo {limit} elementos.' },
  invalid_value: { en: 'Must be one of: {values}.', es: 'Debe ser uno de: {values}.' },
  invalid_format: { en: 'Does not have the right format.', es: 'No tiene el formato correcto.' },
  'format.datetime': {
    en: 'Must be a date and time with its zone, such as 2026-11-15T00:00:00Z.',
    es: 'Debe ser una fecha y hora con su zona, como 2026-11-15T00:00:00Z.',
  },
  'format.uuid': {
    en: 'Must be an identifier such as 019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10.',
    es: 'Debe ser un identificador como 019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10.',
  },
  'format.email': {
    en: 'Must be an e-mail address, such as ana@example.com.',
    es: 'Debe ser una dirección de correo, como ana@example.com.',
  },
  'format.phone': {
    en: 'Must be an international number, a plus sign and 7 to 15 digits, such as +573001234567.',
    es: 'Debe ser un número internacional, un signo más y de 7 a 15 dígitos, como +573001234567.',
  },
  'format.integer': {
    en: 'Must be a whole number of at most nine digits.',
    es: 'Debe ser un número entero de máximo nueve dígitos.',
  },
  'format.header_name': {
    en: "Must have 1 to 100 characters: letters without accents, digits, periods, !#$%&'*+^_`|~ and -.",
    es: "Debe tener de 1 a 100 caracteres: letras sin tildes, dígitos, puntos, !#$%&'*+^_`|~ y -.",
  },
  'format.header_value': {
    en: 'Must have 1 to 500 characters: letters without accents, digits, spaces and ASCII signs, no line breaks.',
    es: 'Debe tener de 1 a 500 caracteres: letras sin tildes, dígitos, espacios y signos ASCII, sin saltos de línea.',
  },
  'format.idempotency_key': {
    en: 'Must have 1 to 255 characters: letters without accents, digits, spaces and ASCII signs.',
    es: 'Debe tener de 1 a 255 caracteres: letras sin tildes, dígitos, espacios y signos ASCII.',
  },
  invalid_characters: {
    en: 'Must be text without control, invisible or text-direction characters, and not only spaces.',
    es: 'Debe ser texto sin caracteres de control, invisibles o de dirección del texto, y no solo espacios.',
  },
  invalid_breb_key: {
    en: 'Is not a valid Bre-B key.',
    es: 'No puede ser una llave Bre-B de ningún tipo.',
  },
  invalid_document: {
    en: 'Is not a valid number for this document type.',
    es: 'No puede ser un número de este tipo de documento.',
  },
  invalid_metadata_key: {
    en: 'The key must have 1 to 40 characters, without control characters, and not be `__proto__`.',
    es: 'La clave debe tener de 1 a 40 caracteres, sin caracteres de control, y no puede ser `__proto__`.',
  },
  too_many_pairs: { en: 'Must have at most 20 pairs.', es: 'Debe tener máximo 20 pares.' },
  'url.malformed': {
    en: 'Must be an absolute URL without spaces or line breaks, such as https://shop.example.com/path.',
    es: 'Debe ser una dirección completa, sin espacios ni saltos de línea, como https://shop.example.com/ruta.',
  },
  'url.length': {
    en: 'Must have at most 2048 characters, with special characters encoded.',
    es: 'Debe tener máximo 2048 caracteres, también con sus caracteres especiales codificados.',
  },
  'url.no_credentials': {
    en: 'Must not contain a user name or a password.',
    es: 'No debe llevar usuario ni contraseña.',
  },
  'url.https': {
    en: 'Must begin with https:// (http:// only to loopback, on a staging server that allows it).',
    es: 'Debe empezar por https:// (http:// solo en un servidor de pruebas que lo permita, hacia su propio equipo).',
  },
  'url.port': { en: 'Must not use port 0.', es: 'No debe indicar el puerto 0.' },
  'url.public': {
    en: 'Must point to the public internet: not to a loopback, private or reserved address, nor to a name that only resolves in a private network.',
    es: 'Debe llevar a internet público: no a este equipo, a una dirección privada o reservada, ni a un nombre que solo conoce una red privada.',
  },
  duplicate_field: {
    en: 'Must be sent only once.',
    es: 'Se debe enviar una sola vez.',
  },
  too_many_fields: {
    en: 'Has more fields or entries than any operation accepts.',
    es: 'Tiene más campos o elementos de los que acepta cualquier operación.',
  },
  too_deep: {
    en: 'Has more nested levels than any operation accepts.',
    es: 'Tiene más niveles anidados de los que acepta cualquier operación.',
  },
  one_or_the_other: {
    en: 'Cannot be sent together with `createdFrom` and `createdTo`.',
    es: 'No se puede enviar junto con `createdFrom` y `createdTo`.',
  },
  reserved_header: {
    en: 'Caudal sets this header itself.',
    es: 'Este encabezado lo pone el propio servicio.',
  },
  not_for_this_rail: { en: 'Not allowed for this rail.', es: 'Es del otro medio de pago.' },
  unsupported_bank: {
    en: 'Is not a supported bank; GET /pse/banks lists them.',
    es: 'No es un banco soportado; GET /pse/banks los lista.',
  },
} satisfies Readonly<Record<RequiredKey, Translations>> & Readonly<Record<string, Translations>>;

type MessageKey = keyof typeof MESSAGES;

/** A response is never much larger than its request: a person corrects the first errors and sends it again. */
export const MAX_FIELD_ERRORS = 20;

const TYPES: Readonly<Record<string, Translations>> = {
  string: { en: 'a string', es: 'un texto' },
  number: { en: 'a number', es: 'un número' },
  int: { en: 'a whole number', es: 'un número entero' },
  boolean: { en: 'true or false', es: 'true o false' },
  object: { en: 'an object', es: 'un objeto' },
  record: { en: 'an object', es: 'un objeto' },
  array: { en: 'a list', es: 'una lista' },
};

/**
 * Parses a part of the request.
 * @param otherErrors errors that the schema cannot detect; dropped for fields where the schema reports an error
 * @throws ApiError with every invalid field
 */
export function readPart<T extends z.ZodType>(
  schema: T,
  value: unknown,
  prefix: string,
  language: Language,
  otherErrors: readonly FieldError[] = [],
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success && otherErrors.length === 0) return parsed.data;
  const schemaErrors =
    parsed.error?.issues.flatMap((issue) => fieldErrors(issue, value, prefix, language)) ?? [];
  const others = otherErrors.filter(({ path }) => !schemaErrors.some((error) => error.path === path));
  throw invalidRequest([...schemaErrors, ...others]);
}

export function invalidRequest(fields: readonly FieldError[]): ApiError {
  const onlyUnknown = fields.every((field) => field.code === 'unknown_field');
  return new ApiError(onlyUnknown ? 'unknown_field' : 'invalid_request', {
    fields: fields.slice(0, MAX_FIELD_ERRORS),
  });
}

/** @param key selects the message: some codes have several */
export function fieldError(
  path: string,
  code: FieldCode | UrlFieldCode | 'invalid_format',
  language: Language,
  key: MessageKey,
): FieldError {
  return { path, code, message: MESSAGES[key][language] };
}

function fieldErrors(issue: Issue, value: unknown, prefix: string, language: Language): FieldError[] {
  const path = prefix + issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: path === '' || path.endsWith('.') ? path + key : `${path}.${key}`,
      code: 'unknown_field',
      message: MESSAGES.unknown_field[language],
    }));
  }
  const { code, key = code, details = {} } = describe(issue, value, language);
  let message: string = MESSAGES[key][language];
  for (const [name, detail] of Object.entries(details)) message = message.replace(`{${name}}`, detail);
  return [{ path: path.replace(/\.$/, '') || 'body', code, message }];
}

function describe(
  issue: Issue,
  value: unknown,
  language: Language,
): { code: MessageKey; key?: MessageKey; details?: Record<string, string> } {
  const missing = valueAt(value, issue.path) === undefined;
  switch (issue.code) {
    case 'invalid_type':
      return missing
        ? { code: 'required' }
        : {
            code: 'invalid_type',
            details: { expected: TYPES[issue.expected]?.[language] ?? issue.expected },
          };
    case 'too_small':
      return {
        code: issue.origin === 'string' ? 'too_short' : 'too_small',
        details: { limit: String(issue.minimum) },
        ...(issue.origin === 'array' ? { key: 'too_few' } : {}),
      };
    case 'too_big':
      return {
        code: issue.origin === 'string' ? 'too_long' : 'too_big',
        details: { limit: String(issue.maximum) },
        ...(issue.origin === 'array' ? { key: 'too_many' } : {}),
      };
    case 'invalid_value':
      return missing
        ? { code: 'required' }
        : { code: 'invalid_value', details: { values: issue.values.map(String).join(', ') } };
    case 'invalid_format': {
      // zod has no name for a regular expression; the schema provides one with `formatIssue`.
      const key = issue.format === 'regex' ? issue.message : `format.${issue.format}`;
      return { code: 'invalid_format', ...(isMessageKey(key) ? { key } : {}) };
    }
    case 'invalid_key':
      return { code: 'invalid_metadata_key' };
    case 'custom':
      // `fieldIssue` is the only source of custom issues.
      return { code: (issue.params?.['code'] ?? 'invalid_format') as FieldCode | 'invalid_format' };
    default:
      return { code: missing ? 'required' : 'invalid_format' };
  }
}

function isMessageKey(key: string): key is MessageKey {
  return Object.hasOwn(MESSAGES, key);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const step of path) {
    if (current === null || typeof current !== 'object') return undefined;
    current = (current as Record<PropertyKey, unknown>)[step];
  }
  return current;
}
