import { type DestinationStream, destination, type Logger, pino } from 'pino';

/**
 * Logs by allow-list: a field that is not named here does not reach the log, so personal data cannot slip in with an
 * object somebody logged whole. Values are plain; an error is reduced to its type, code and frames, because a
 * message of PostgreSQL can quote the data it refused.
 */
const ALLOWED = [
  'requestId',
  'method',
  'route',
  'status',
  'durationMs',
  'organizationId',
  'keyId',
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
  'errorType',
  'errorMessage',
  'frames',
  'signal',
  'ageMs',
  'leadMs',
  'circuit',
  'payinId',
  'payoutId',
  'noticeId',
  'anomalyId',
  'webhookEndpointId',
] as const;

type Allowed = (typeof ALLOWED)[number];
type Fields = { readonly [name in Allowed]?: string | number | boolean | readonly string[] | null };

export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  /** Writes out what is buffered; call it before the process ends. */
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
  // Lines wait in the buffer until it is full; a quiet service must still be readable.
  const ticking = setInterval(() => logger.flush(), 1000);
  ticking.unref();
  return facade(logger);
}

function facade(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
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

/** What a log may say of an error. Our own errors keep their message; those of PostgreSQL may quote data. */
export function errorFields(error: unknown): Fields {
  if (!(error instanceof Error)) return { errorType: typeof error };
  const details = error as Error & {
    code?: unknown;
    constraint?: unknown;
    table?: unknown;
    severity?: unknown;
  };
  const fromDatabase = typeof details.severity === 'string';
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
    frames: frames.map((frame) => frame.trim()),
  };
}
