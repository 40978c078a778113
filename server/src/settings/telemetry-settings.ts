import { z } from 'zod';
import { integer, url } from './setting-types.ts';

const SAMPLERS = [
  'parentbased_traceidratio',
  'traceidratio',
  'parentbased_always_on',
  'always_on',
  'parentbased_always_off',
  'always_off',
] as const;

const VALUE = /^[^\s,;\\"]*$/;

/** Parses `name=value,name=value` with percent-encoded values, as OpenTelemetry defines it; null when it is malformed. */
export function parsePairs(text: string): Readonly<Record<string, string>> | null {
  const pairs = new Map<string, string>();
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    const value = part.slice(at + 1).trim();
    if (at < 1 || !/^[\w.!#$%&'*+^`|~-]+$/.test(name) || !VALUE.test(value)) return null;
    const decoded = decode(value);
    if (decoded === null) return null;
    pairs.set(name, decoded);
  }
  return Object.fromEntries(pairs);
}

/** Null for malformed text, and for control characters: a line break would add a header. */
function decode(value: string): string | null {
  try {
    const text = decodeURIComponent(value);
    return /\p{Cc}/u.test(text) ? null : text;
  } catch {
    return null;
  }
}

const pairs = (description: string) =>
  z
    .string()
    .max(8192)
    .refine((value) => parsePairs(value) !== null, '`name=value` pairs separated by commas, percent-encoded')
    .optional()
    .describe(description);

/** Settings of the export to an OpenTelemetry collector, under their standard names. */
export const TELEMETRY_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'Address of an OpenTelemetry collector that receives OTLP over HTTP, such as `http://localhost:4318`, without `/v1/traces`. Not set: nothing is exported and no span is recorded.',
  ).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(
    'Headers of every request to the collector, such as its credentials: `name=value` pairs separated by commas. Production sends them only over https or to this machine.',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/protobuf'])
    .default('http/protobuf')
    .describe('Protocol of the export. gRPC is not supported.'),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer(
    100,
    60_000,
    'Milliseconds that a request to the collector may take.',
  ).default(10_000),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).default('caudal').describe('`service.name` of the process.'),
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    'Further attributes of the process: `name=value` pairs separated by commas.',
  ),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp').describe('`none` exports no traces.'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_traceidratio')
    .describe(
      'Which requests are traced. `…traceidratio`: a random share of them. `parentbased_…`: also up to 10 requests per second and process whose `traceparent` is sampled.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'a number from 0 to 1')
    .transform(Number)
    .default(0.01)
    .describe('Share of the requests that `…traceidratio` traces, from 0 to 1.'),
  OTEL_METRICS_EXPORTER: z
    .enum(['otlp', 'none'])
    .default('otlp')
    .describe('`none` exports no metrics: for deployments in which Prometheus scrapes `/metrics`.'),
  OTEL_METRIC_EXPORT_INTERVAL: integer(1000, 600_000, 'Milliseconds between two exports of metrics.').default(
    60_000,
  ),
} as const;
