import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closed, closeSchemas } from './close-schemas.ts';
import type { OpenApi, Operation } from './openapi.ts';

/** Returns what violates the schema, or null. */
type Validate = (value: unknown) => string | null;

export interface Validators {
  readonly problem: Validate;
  /** Null if the operation does not document a JSON body for this status. */
  response(operation: Operation, status: number): Validate | null;
}

const ID = 'openapi';

/** Compiles the schemas of all responses once: a compiled validation takes microseconds. */
export function compileValidators(document: OpenApi, operations: readonly Operation[]): Validators {
  const ajv = new Ajv2020({
    strict: false,
    formats: { uri: isUri, uuid: true, 'date-time': isDate, email: true },
  });
  ajv.addSchema({ $id: ID, components: { schemas: closeSchemas(document.components.schemas) } });
  const compile = (schema: object) => toValidate(ajv.compile(closed(JSON.parse(absolute(schema))) as object));
  const responses = new Map<string, Validate>();
  for (const operation of operations) {
    for (const [status, types] of operation.responses) {
      const schema = types.get('application/json');
      if (schema) responses.set(`${operation.id} ${status}`, compile(schema));
    }
  }
  return {
    problem: compile({ $ref: '#/components/schemas/Problem' }),
    response: ({ id }, status) => responses.get(`${id} ${status}`) ?? null,
  };
}

/** References of the document become references to the schema that was added above. */
function absolute(schema: object): string {
  return JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${ID}#/`);
}

function toValidate(validate: ValidateFunction): Validate {
  return (value) => {
    if (validate(value)) return null;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params ?? {})}`.trim();
  };
}

function isUri(text: string): boolean {
  return URL.canParse(text);
}

function isDate(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
