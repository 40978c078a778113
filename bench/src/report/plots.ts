import { type Bar, type Curve, type Series, valueText } from '../metric.ts';
import { color, element, picture, text } from './svg.ts';

const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 16;
const TOP = 40;
const BOTTOM = 44;
const BAR = 26;
const GREY = '#94a3b8';

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Latency by quantile. Each nine gets the same width, to show the tail. */
export function latencyPlot(title: string, curves: readonly Curve[]): string {
  const nines = (q: number) => -Math.log10(1 - Math.min(q, 0.99995));
  const shown = curves.map(({ name, points }) => ({
    name,
    points: points.filter(([, ms]) => Number.isFinite(ms)),
  }));
  const across = (q: number) => LEFT + (nines(q) / nines(0.9999)) * (WIDTH - LEFT - RIGHT);
  const up = upright(logarithmic(shown.flatMap(({ points }) => points.map(([, ms]) => ms))));
  const quantiles = [0, 0.5, 0.9, 0.99, 0.999, 0.9999].map((q) =>
    text(across(q), HEIGHT - BOTTOM + 18, `p${q * 100}`, {
      'text-anchor': q > 0.999 ? 'end' : 'middle',
    }),
  );
  const lines = shown.map(({ points }, index) =>
    path(
      points.map(([q, ms]) => [across(q), up.at(ms)] as const),
      index,
    ),
  );
  return framed(title, 'milliseconds', up, [...quantiles, ...lines], shown);
}

/** Throughput per second over time. */
export function overTimePlot(title: string, series: readonly Series[]): string {
  const seconds = Math.max(2, ...series.map(({ values }) => values.length));
  const across = (second: number) => LEFT + (second / (seconds - 1)) * (WIDTH - LEFT - RIGHT);
  const up = upright(linear(series.flatMap(({ values }) => values)));
  const labels = [0, Math.floor((seconds - 1) / 2), seconds - 1].map((second) =>
    text(across(second), HEIGHT - BOTTOM + 18, `${second + 1} s`, { 'text-anchor': 'middle' }),
  );
  const lines = series.map(({ values }, index) =>
    path(
      values.map((value, second) => [across(second), up.at(value)] as const),
      index,
    ),
  );
  return framed(title, 'a second', up, [...labels, ...lines], series);
}

export function barPlot(title: string, bars: readonly Bar[]): string {
  const max = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const from = 170;
  const height = TOP + bars.length * BAR + 8;
  const drawn = bars.flatMap(({ name, value }, index) => {
    const y = TOP + index * BAR;
    const width = Math.max(1, (value / max) * (WIDTH - from - 80));
    return [
      text(from - 8, y + 14, name, { 'text-anchor': 'end' }),
      element('rect', { x: from, y, width, height: BAR - 8, rx: 2, fill: color(index === 0 ? 0 : 5) }),
      text(from + width + 6, y + 14, valueText(value)),
    ];
  });
  return picture(WIDTH, height, title, text(12, 20, title, { 'font-weight': 600 }), ...drawn);
}

function framed(
  title: string,
  unit: string,
  up: Scale,
  drawn: readonly string[],
  named: readonly { readonly name: string }[],
): string {
  const grid = up.ticks.flatMap((tick) => [
    element('line', {
      x1: LEFT,
      x2: WIDTH - RIGHT,
      y1: up.at(tick),
      y2: up.at(tick),
      stroke: GREY,
      'stroke-opacity': 0.35,
    }),
    text(LEFT - 6, up.at(tick) + 4, valueText(tick), { 'text-anchor': 'end' }),
  ]);
  const legend = named.map(({ name }, index) =>
    text(LEFT + index * 190, HEIGHT - 6, `— ${name}`, { fill: color(index) }),
  );
  const heading = [
    text(12, 18, title, { 'font-weight': 600 }),
    text(12, TOP - 8, unit, { fill: '#64748b', 'font-size': 11 }),
  ];
  return picture(WIDTH, HEIGHT, title, ...heading, ...grid, ...drawn, ...legend);
}

function path(points: readonly (readonly [number, number])[], index: number): string {
  return element('polyline', {
    points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '),
    fill: 'none',
    stroke: color(index),
    'stroke-width': 2,
    'stroke-linejoin': 'round',
  });
}

/** Maps a scale from 0 (bottom) to 1 (top) to y coordinates. */
function upright({ at, ticks }: Scale): Scale {
  return { at: (value) => HEIGHT - BOTTOM - at(value) * (HEIGHT - TOP - BOTTOM), ticks };
}

function linear(values: readonly number[]): Scale {
  const max = Math.max(1, ...values);
  const step = niceStep(max / 4);
  const top = Math.ceil(max / step) * step;
  return {
    at: (value) => value / top,
    ticks: Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step),
  };
}

function logarithmic(values: readonly number[]): Scale {
  const above = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(1, ...above)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, ...above))));
  return {
    at: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low),
    ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
  };
}

function niceStep(rough: number): number {
  const size = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((step) => step * size >= rough) ?? 10) * size;
}
