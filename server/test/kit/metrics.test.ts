import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/kit/metrics.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads Prometheus' text format strictly: a line that is none of it is an error. */
function samplesOf(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .filter((line) => !/^# (?:HELP [a-z_]+ .+|TYPE [a-z_]+ (?:counter|gauge|histogram))$/.test(line))
    .map((line) => {
      // With `s`: a label may hold what JavaScript takes for the end of a line, U+2028.
      const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/s.exec(line);
      if (!match) throw new Error(`not a sample: ${line}`);
      const [, name = '', labels = '', value = ''] = match;
      return { name, labels: labelsOf(labels), value: Number(value) };
    });
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const match = /^([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/s.exec(rest);
    if (!match) throw new Error(`not labels: ${text}`);
    const [whole, name = '', value = ''] = match;
    labels[name] = value.replaceAll(/\\(.)/gs, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return labels;
}

describe('a counter', () => {
  it('adds up by its labels', () => {
    const metrics = new Metrics();
    const counter = metrics.counter('things_total', 'Things.');
    counter.add({ answer: 'yes' });
    counter.add({ answer: 'no' }, 4);
    counter.add({ answer: 'yes' }, 2);
    counter.add();
    expect(samplesOf(metrics.render())).toEqual([
      { name: 'things_total', labels: { answer: 'yes' }, value: 3 },
      { name: 'things_total', labels: { answer: 'no' }, value: 4 },
      { name: 'things_total', labels: {}, value: 1 },
    ]);
  });

  it('says whatever a label holds so that it reads back the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const metrics = new Metrics();
        metrics.counter('things_total', 'Things.').add({ label: value });
        expect(samplesOf(metrics.render())).toEqual([
          { name: 'things_total', labels: { label: value }, value: 1 },
        ]);
      }),
    );
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things.').add({ label: 'a "b"\\\nc' });
    expect(metrics.render()).toContain('things_total{label="a \\"b\\"\\\\\\nc"} 1');
  });
});

describe('a gauge', () => {
  it('is read anew at every scrape', () => {
    const metrics = new Metrics();
    let waiting = 3;
    metrics.gauge('waiting', 'Waiting.', () => waiting);
    expect(metrics.render()).toBe('# HELP waiting Waiting.\n# TYPE waiting gauge\nwaiting 3\n');
    waiting = 0;
    expect(samplesOf(metrics.render())).toEqual([{ name: 'waiting', labels: {}, value: 0 }]);
  });
});

describe('a histogram', () => {
  const EDGES = [0.01, 0.1, 1];

  it('counts in every bucket what is no greater than its edge, and all in the last', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 1 }), (values) => {
        const metrics = new Metrics();
        const histogram = metrics.histogram('seconds', 'Seconds.', EDGES);
        for (const value of values) histogram.observe(value, { route: '/payins' });
        const samples = samplesOf(metrics.render());
        const buckets = samples.filter((sample) => sample.name === 'seconds_bucket');
        expect(buckets.map((sample) => [sample.labels['le'], sample.value])).toEqual([
          ...EDGES.map((edge) => [String(edge), values.filter((value) => value <= edge).length]),
          ['+Inf', values.length],
        ]);
        expect(samples.every((sample) => sample.labels['route'] === '/payins')).toBe(true);
        expect(samples.find((sample) => sample.name === 'seconds_count')?.value).toBe(values.length);
        expect(samples.find((sample) => sample.name === 'seconds_sum')?.value).toBeCloseTo(
          values.reduce((sum, value) => sum + value, 0),
          9,
        );
      }),
    );
  });

  it('puts a value that is exactly an edge into the bucket of that edge', () => {
    const metrics = new Metrics();
    metrics.histogram('seconds', 'Seconds.', EDGES).observe(0.1);
    expect(metrics.render()).toContain('seconds_bucket{le="0.01"} 0\nseconds_bucket{le="0.1"} 1\n');
  });

  it('keeps different labels apart', () => {
    const metrics = new Metrics();
    const histogram = metrics.histogram('seconds', 'Seconds.', EDGES);
    histogram.observe(0.05, { status: 201 });
    histogram.observe(0.05, { status: 503 });
    histogram.observe(0.05, { status: 503 });
    const counts = samplesOf(metrics.render()).filter((sample) => sample.name === 'seconds_count');
    expect(counts.map((sample) => [sample.labels['status'], sample.value])).toEqual([
      ['201', 1],
      ['503', 2],
    ]);
  });
});

describe('the metrics of a process', () => {
  it('have different names: a name given twice is refused', () => {
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things.');
    expect(() => metrics.gauge('things_total', 'Things.', () => 1)).toThrow('things_total');
  });

  it('tell the help and the type of each before its samples', () => {
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things seen.').add();
    metrics.histogram('seconds', 'How long.', [1]).observe(0.5);
    expect(
      metrics
        .render()
        .split('\n')
        .filter((line) => line.startsWith('#')),
    ).toEqual([
      '# HELP things_total Things seen.',
      '# TYPE things_total counter',
      '# HELP seconds How long.',
      '# TYPE seconds histogram',
    ]);
  });
});
