import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { Metrics } from '../../src/kit/metrics.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the Prometheus text format strictly: an invalid line is an error. */
function parseSamples(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .filter((line) => !/^# (?:HELP [a-z_]+ .+|TYPE [a-z_]+ (?:counter|gauge|histogram))$/.test(line))
    .map((line) => {
      // With `s`: a label may contain U+2028, which JavaScript treats as a line end.
      const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/s.exec(line);
      if (!match) throw new Error(`not a sample: ${line}`);
      const [, name = '', labels = '', value = ''] = match;
      return { name, labels: parseLabels(labels), value: Number(value) };
    });
}

function parseLabels(text: string): Record<string, string> {
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
    expect(parseSamples(metrics.render())).toEqual([
      { name: 'things_total', labels: { answer: 'yes' }, value: 3 },
      { name: 'things_total', labels: { answer: 'no' }, value: 4 },
      { name: 'things_total', labels: {}, value: 1 },
    ]);
  });

  it('starts every declared series at zero, also the one without labels', () => {
    const metrics = new Metrics();
    metrics.counter('answers_total', 'Answers.', { rail: ['BRE_B', 'PSE'], answer: ['yes', 'no'] }).add({
      rail: 'PSE',
      answer: 'yes',
    });
    metrics.counter('things_total', 'Things.', {});
    metrics.counter('pairs_total', 'Pairs.', [{ a: 1, b: 2 }]);
    expect(parseSamples(metrics.render()).map(({ labels, value }) => [labels, value])).toEqual([
      [{ rail: 'BRE_B', answer: 'yes' }, 0],
      [{ rail: 'BRE_B', answer: 'no' }, 0],
      [{ rail: 'PSE', answer: 'yes' }, 1],
      [{ rail: 'PSE', answer: 'no' }, 0],
      [{}, 0],
      [{ a: '1', b: '2' }, 0],
    ]);
  });

  it('escapes label values so that they parse back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const metrics = new Metrics();
        metrics.counter('things_total', 'Things.').add({ label: value });
        expect(parseSamples(metrics.render())).toEqual([
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
  it('is read at every scrape', () => {
    const metrics = new Metrics();
    let waiting = 3;
    metrics.gauge('waiting', 'Waiting.', () => waiting);
    expect(metrics.render()).toBe('# HELP waiting Waiting.\n# TYPE waiting gauge\nwaiting 3\n');
    waiting = 0;
    expect(parseSamples(metrics.render())).toEqual([{ name: 'waiting', labels: {}, value: 0 }]);
  });
});

describe('a gauge with several or unknown values', () => {
  it('has one sample per set of labels, and none while its value is not known', () => {
    const metrics = new Metrics();
    metrics.gauge('waiting', 'Waiting.', () => [
      { labels: { pool: 'read' }, value: 1 },
      { labels: { pool: 'batch' }, value: 2 },
    ]);
    metrics.gauge('open', 'Open.', () => new Map([['{rail="PSE",operation="poll payouts"}', 1]]));
    metrics.gauge('age_seconds', 'Age.', () => null);
    expect(parseSamples(metrics.render())).toEqual([
      { name: 'waiting', labels: { pool: 'read' }, value: 1 },
      { name: 'waiting', labels: { pool: 'batch' }, value: 2 },
      { name: 'open', labels: { rail: 'PSE', operation: 'poll payouts' }, value: 1 },
    ]);
  });
});

describe('a histogram', () => {
  const EDGES = [0.01, 0.1, 1];

  it('counts in every bucket the values up to its bound, and all in the last', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 1 }), (values) => {
        const metrics = new Metrics();
        const histogram = metrics.histogram('seconds', 'Seconds.', EDGES);
        for (const value of values) histogram.observe(value, { route: '/payins' });
        const samples = parseSamples(metrics.render());
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

  it('counts a value equal to a bound in its bucket', () => {
    const metrics = new Metrics();
    metrics.histogram('seconds', 'Seconds.', EDGES).observe(0.1);
    expect(metrics.render()).toContain('seconds_bucket{le="0.01"} 0\nseconds_bucket{le="0.1"} 1\n');
  });

  it('separates different labels', () => {
    const metrics = new Metrics();
    const histogram = metrics.histogram('seconds', 'Seconds.', EDGES);
    histogram.observe(0.05, { status: 201 });
    histogram.observe(0.05, { status: 503 });
    histogram.observe(0.05, { status: 503 });
    const counts = parseSamples(metrics.render()).filter((sample) => sample.name === 'seconds_count');
    expect(counts.map((sample) => [sample.labels['status'], sample.value])).toEqual([
      ['201', 1],
      ['503', 2],
    ]);
  });
});

describe('the metrics registry', () => {
  it('rejects a duplicate name', () => {
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things.');
    expect(() => metrics.gauge('things_total', 'Things.', () => 1)).toThrow('things_total');
  });

  it('writes help and type of each metric before its samples', () => {
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

  it('is readable as data, with cumulative buckets', () => {
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things.', { answer: ['yes'] });
    const histogram = metrics.histogram('seconds', 'Seconds.', [0.1, 1], { pool: ['read'] });
    histogram.observe(0.5, { pool: 'read' }, 3);
    histogram.series({ pool: 'read' }).observe(0.05);
    expect(metrics.read()).toEqual([
      {
        name: 'things_total',
        help: 'Things.',
        type: 'counter',
        samples: [{ labels: { answer: 'yes' }, value: 0 }],
        histograms: [],
      },
      {
        name: 'seconds',
        help: 'Seconds.',
        type: 'histogram',
        samples: [],
        histograms: [
          {
            labels: { pool: 'read' },
            buckets: [
              { le: 0.1, count: 1 },
              { le: 1, count: 4 },
            ],
            sum: 1.55,
            count: 4,
          },
        ],
      },
    ]);
  });
});
