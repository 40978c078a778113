import { describe, expect, it } from 'vitest';
import { BENCHES } from '../src/benches.ts';
import { HELP, readOptions } from '../src/options.ts';
import { MEASURED_ELSEWHERE, SCOREBOARD } from '../src/report/scoreboard.ts';

describe('options of npm run bench', () => {
  it('measures everything without options', () => {
    expect(readOptions([])).toMatchObject({ task: 'measure', quick: false, only: null, rows: 10_000_000 });
  });

  it('accepts metric ids in any case and with spaces', () => {
    expect(readOptions(['--only', 'p1, O4', '--seed', '7'])).toMatchObject({ only: ['P1', 'O4'], seed: 7 });
  });

  it.each([
    [['--only', 'P1,P99'], /no such metric: P99; available: P1/],
    [['--rows', 'many'], /--rows: many is not a whole number/],
    [['--minutes', '-3'], /--minutes/],
    [['--fast'], /--fast/],
  ])('rejects %j with a reason', (args, why) => {
    expect(() => readOptions(args)).toThrow(why);
  });

  it('lists every metric in the help', () => {
    for (const { ids } of BENCHES) for (const id of ids) expect(HELP).toContain(id);
  });
});

describe('scoreboard', () => {
  it('has a bench for every metric, and a metric for every bench', () => {
    const measured = [...BENCHES.flatMap(({ ids }) => ids), ...Object.keys(MEASURED_ELSEWHERE)];
    expect(SCOREBOARD.map(({ id }) => id).toSorted()).toEqual(measured.toSorted());
  });
});
