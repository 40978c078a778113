import { describe, expect, it } from 'vitest';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { rolesWith } from '../../src/settings/role-settings.ts';

const BASE = serverSettings({
  databaseUrl: 'postgres://owner:pw@127.0.0.1:5432/caudal',
  simulatorUrl: 'http://127.0.0.1:4000',
  baseUrl: 'http://127.0.0.1:8080',
});
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

function telemetry(settings: Readonly<Record<string, string>>) {
  return readConfig('api', { ...BASE, ...settings }).telemetry;
}

function problems(settings: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig('api', { ...BASE, ...settings });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the export of telemetry', () => {
  it('is off without an endpoint, whatever else is set', () => {
    expect(telemetry({})).toBeNull();
    expect(telemetry({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'x' })).toBeNull();
  });

  it('samples one percent by default and exports metrics every minute', () => {
    expect(telemetry(ENDPOINT)).toEqual({
      collector: { endpoint: 'http://collector:4318', headers: {}, timeoutMs: 10_000 },
      sampling: { ratio: 0.01, followsCaller: true },
      metricsEveryMs: 60_000,
      resource: { 'service.name': 'caudal', 'deployment.environment.name': 'development' },
    });
  });

  it('reads headers and attributes as percent-encoded pairs', () => {
    const read = telemetry({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-tenant=7',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=payments,k8s.pod.name=a%2Cb',
    });
    expect(read?.collector.headers).toEqual({ authorization: 'Basic YTpi==', 'x-tenant': '7' });
    expect(read?.resource).toMatchObject({ 'service.namespace': 'payments', 'k8s.pod.name': 'a,b' });
  });

  it.each([
    ['always_on', { ratio: 1, followsCaller: false }],
    ['always_off', { ratio: 0, followsCaller: false }],
    ['traceidratio', { ratio: 0.25, followsCaller: false }],
    ['parentbased_traceidratio', { ratio: 0.25, followsCaller: true }],
    ['parentbased_always_on', { ratio: 1, followsCaller: true }],
    ['parentbased_always_off', { ratio: 0, followsCaller: true }],
  ])('understands the sampler %s', (sampler, sampling) => {
    const settings = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.25' };
    expect(telemetry(settings)?.sampling).toEqual(sampling);
  });

  it('can omit traces or metrics', () => {
    expect(telemetry({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })?.sampling).toBeNull();
    expect(telemetry({ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' })?.metricsEveryMs).toBeNull();
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=x%0d%0aevil:1'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '10'],
  ])('rejects %s=%s', (name, value) => {
    expect(problems({ ...ENDPOINT, [name]: value })).toEqual([expect.stringContaining(name)]);
  });
});

describe('the headers of the export', () => {
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret', CAUDAL_ENV: 'production' };
  const about = (endpoint: string) =>
    problems({ ...headers, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).filter((each) => each.includes('OTEL_'));

  it('leave the machine only over https in production', () => {
    expect(about('http://collector:4318')).toHaveLength(1);
    expect(about('https://collector:4318')).toEqual([]);
    expect(about('http://localhost:4318')).toEqual([]);
  });

  it('are a secret of the server roles', () => {
    expect(rolesWith('OTEL_EXPORTER_OTLP_HEADERS')).toEqual(['api', 'worker', 'all']);
  });
});
