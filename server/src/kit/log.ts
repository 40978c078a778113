import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Allow-list of log fields: other fields are dropped, so that personal data cannot leak through an object that is logged
 * as a whole. An error is reduced to its type, code and frames, because a PostgreSQL message can contain the rejected
 * data.
 */
const ALLOWED = [
  'requestId',
  'traceId',
  'spanId',
  'method',
  'route',
  'status',
  'durationMs',
  'organizationId',
  'keyId',
  'tokenId',
  'clientAddress',
  'code',
  'reason',
  'event',
  'role',
  'port',
  'opsPort',
  'environment',
  'cell',
  'version',
  'migration',
  'migrations',
  'count',
  'attempt',
  'rail',
  'operation',
  'sqlState',
  'constraint',
  'table',
  'statement',
  'errorType',
  'errorMessage',
  'frames',
  'signal',
  'ageMs',
  'leadMs',
  'circuit',
  'payinId',
  'payoutId',
  'paymentLinkId',
  'errorCode',
  'noticeId',
  'anomalyId',
  'webhookEndpointId',
] as const;

type Allowed = Exclude<(typeof ALLOWED)[number], 'code'>;
type Fields = { readonly [name in Allowed]?: string | number | boolean | readonly string[] | null };

/** `code` identifies the event: alerts, runbooks and tests match it, never the message. */
type LogFields = Fields & { readonly code: string };

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** Flushes the buffer; call it before the process ends. */
  flush(): void;
}

const NAMES: ReadonlySet<string> = new Set(ALLOWED);

export function makeLog(options: {
  level: string;
  base: Record<string, string | number>;
  stream?: DestinationStream;
}): Log {
  const stream = options.stream ?? destination({ dest: 1, sync: false, minLength: 4096 });
  const logger = pino(
    {
      level: options.level,
      base: options.base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: onlyAllowed },
    },
    stream,
  );
  // Log lines stay in the buffer until it is full; flush regularly so that a quiet service can be observed.
  const flushTimer = setInterval(() => logger.flush(), 1000);
  flushTimer.unref();
  return facade(logger);
}

function facade(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    // Errors are rare and must not be lost with the buffer when the process is killed.
    error: (fields, message) => {
      logger.error(fields, message);
      logger.flush();
    },
    flush: () => logger.flush(),
  };
}

function onlyAllowed(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(fields)) if (!NAMES.has(name)) return filtered(fields);
  return fields;
}

function filtered(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => NAMES.has(name)));
}

interface DatabaseErrorDetails {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly table?: unknown;
  readonly severity?: unknown;
  /** Name of the statement that PostgreSQL rejected (db/failures.ts). */
  readonly statement?: unknown;
}

/**
 * Log fields of an error, with the details of the database error that it is or that caused it. Our own errors keep their
 * message; PostgreSQL messages are dropped because they may contain data.
 */
export function errorFields(error: unknown): Fields {
  if (!(error instanceof Error)) return { errorType: typeof error };
  const fromDatabase = isFromDatabase(error);
  const details: DatabaseErrorDetails = findDatabaseError(error) ?? (error as DatabaseErrorDetails);
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 6);
  return {
    errorType: error.name,
    ...(fromDatabase ? {} : { errorMessage: error.message }),
    ...(typeof details.code === 'string' ? { sqlState: details.code } : {}),
    ...(typeof details.constraint === 'string' ? { constraint: details.constraint } : {}),
    ...(typeof details.table === 'string' ? { table: details.table } : {}),
    ...(typeof details.statement === 'string' ? { statement: details.statement } : {}),
    frames: frames.map((frame) => frame.trim()),
  };
}

/** PostgreSQL errors carry a severity; kit does not know their class. */
function isFromDatabase(error: Error): boolean {
  return typeof (error as DatabaseErrorDetails).severity === 'string';
}

function findDatabaseError(error: unknown): DatabaseErrorDetails | null {
  for (let current = error; current instanceof Error; current = current.cause)
    if (isFromDatabase(current)) return current as DatabaseErrorDetails;
  return null;
}
