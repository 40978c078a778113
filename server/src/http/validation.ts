import type { z } from 'zod';
import type { Language } from '../kit/error-catalogue.ts';
import { Fault, type FieldError } from '../kit/errors.ts';
import type { FieldCode } from './fields.ts';

type Issue = z.core.$ZodIssue;

/** What a field error says, by code. `{…}` is filled from the rule that was broken. */
const MESSAGES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  required: { en: 'This field is required.', es: 'Este campo es obligatorio.' },
  unknown_field: { en: 'There is no such field here.', es: 'Ese campo no existe aquí.' },
  invalid_type: { en: 'Must be {expected}.', es: 'Debe ser {expected}.' },
  too_small: { en: 'Must be at least {limit}.', es: 'Debe ser mínimo {limit}.' },
  too_big: { en: 'Must be at most {limit}.', es: 'Debe ser máximo {limit}.' },
  too_short: { en: 'Must have at least {limit} characters.', es: 'Debe tener mínimo {limit} caracteres.' },
  too_long: { en: 'Must have at most {limit} characters.', es: 'Debe tener máximo {limit} caracteres.' },
  invalid_value: { en: 'Must be one of: {values}.', es: 'Debe ser uno de: {values}.' },
  invalid_format: { en: 'Does not have the right format.', es: 'No tiene el formato correcto.' },
  invalid_characters: {
    en: 'Contains characters that are not allowed.',
    es: 'Contiene caracteres no permitidos.',
  },
  invalid_breb_key: {
    en: 'Cannot be a Bre-B key of any type.',
    es: 'No puede ser una llave Bre-B de ningún tipo.',
  },
  invalid_document: {
    en: 'Cannot be a number of this document type.',
    es: 'No puede ser un número de este tipo de documento.',
  },
  'address.whole': {
    en: 'Must be a whole address without spaces or line breaks, such as https://shop.example.com/path.',
    es: 'Debe ser una dirección completa, sin espacios ni saltos de línea, como https://shop.example.com/ruta.',
  },
  'address.length': {
    en: 'Must have at most 2048 characters, also with its special characters encoded.',
    es: 'Debe tener máximo 2048 caracteres, también con sus caracteres especiales codificados.',
  },
  'address.anonymous': {
    en: 'Must not carry a user or a password.',
    es: 'No debe llevar usuario ni contraseña.',
  },
  'address.https': {
    en: 'Must begin with https:// (http:// only on a staging server that allows it, to its own machine).',
    es: 'Debe empezar por https:// (http:// solo en un servidor de pruebas que lo permita, hacia su propio equipo).',
  },
  'address.port': { en: 'Must not name port 0.', es: 'No debe indicar el puerto 0.' },
  'address.public': {
    en: 'Must lead to the public internet: not to this machine, a private or reserved address, or a name that only a private network knows.',
    es: 'Debe llevar a internet público: no a este equipo, a una dirección privada o reservada, ni a un nombre que solo conoce una red privada.',
  },
  one_or_the_other: {
    en: 'Cannot be sent together with `createdFrom` and `createdTo`.',
    es: 'No se puede enviar junto con `createdFrom` y `createdTo`.',
  },
  reserved_header: {
    en: 'This header is set by the service itself.',
    es: 'Este encabezado lo pone el propio servicio.',
  },
  not_for_this_rail: { en: 'Belongs to the other rail.', es: 'Es del otro medio de pago.' },
  unsupported_bank: {
    en: 'Is not a supported bank; GET /pse/banks lists them.',
    es: 'No es un banco soportado; GET /pse/banks los lista.',
  },
};

const TYPES: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  string: { en: 'a string', es: 'un texto' },
  number: { en: 'a number', es: 'un número' },
  int: { en: 'a whole number', es: 'un número entero' },
  boolean: { en: 'true or false', es: 'true o false' },
  object: { en: 'an object', es: 'un objeto' },
  array: { en: 'a list', es: 'una lista' },
};

/**
 * Reads a part of the request, or throws the problem that names every field of it that is wrong.
 * @param foundElsewhere mistakes that the schema cannot see; left out where it has found one of its own in the field
 */
export function readPart<T extends z.ZodType>(
  schema: T,
  value: unknown,
  prefix: string,
  language: Language,
  foundElsewhere: readonly FieldError[] = [],
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success && foundElsewhere.length === 0) return parsed.data;
  const found = parsed.error?.issues.flatMap((issue) => fieldErrors(issue, value, prefix, language)) ?? [];
  const others = foundElsewhere.filter(({ path }) => !found.some((error) => error.path === path));
  throw invalidRequest([...found, ...others]);
}

export function invalidRequest(fields: readonly FieldError[]): Fault {
  const onlyUnknown = fields.every((field) => field.code === 'unknown_field');
  return new Fault(onlyUnknown ? 'unknown_field' : 'invalid_request', { fields });
}

/** @param text which of the code's messages, where it has several */
export function fieldError(
  path: string,
  code: FieldCode | 'invalid_format',
  language: Language,
  text: string = code,
): FieldError {
  return { path, code, message: MESSAGES[text]?.[language] ?? '' };
}

function fieldErrors(issue: Issue, value: unknown, prefix: string, language: Language): FieldError[] {
  const path = prefix + issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: path === '' || path.endsWith('.') ? path + key : `${path}.${key}`,
      code: 'unknown_field',
      message: MESSAGES['unknown_field']?.[language] ?? '',
    }));
  }
  const { code, details } = describe(issue, value, language);
  let message = MESSAGES[code]?.[language] ?? '';
  for (const [name, detail] of Object.entries(details)) message = message.replace(`{${name}}`, detail);
  return [{ path: path.replace(/\.$/, '') || 'body', code, message }];
}

function describe(
  issue: Issue,
  value: unknown,
  language: Language,
): { code: string; details: Record<string, string> } {
  const missing = valueAt(value, issue.path) === undefined;
  switch (issue.code) {
    case 'invalid_type':
      return missing
        ? { code: 'required', details: {} }
        : {
            code: 'invalid_type',
            details: { expected: TYPES[issue.expected]?.[language] ?? issue.expected },
          };
    case 'too_small':
      return {
        code: issue.origin === 'string' ? 'too_short' : 'too_small',
        details: { limit: String(issue.minimum) },
      };
    case 'too_big':
      return {
        code: issue.origin === 'string' ? 'too_long' : 'too_big',
        details: { limit: String(issue.maximum) },
      };
    case 'invalid_value':
      return missing
        ? { code: 'required', details: {} }
        : { code: 'invalid_value', details: { values: issue.values.map(String).join(', ') } };
    case 'custom':
      return { code: String(issue.params?.['code'] ?? 'invalid_format'), details: {} };
    default:
      return { code: missing ? 'required' : 'invalid_format', details: {} };
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const step of path) {
    if (here === null || typeof here !== 'object') return undefined;
    here = (here as Record<PropertyKey, unknown>)[step];
  }
  return here;
}
