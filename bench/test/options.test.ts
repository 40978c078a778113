import { describe, expect, it } from 'vitest';
import { BENCHES } from '../src/benches.ts';
import { HELP, readOptions } from '../src/options.ts';
import { ELSEWHERE, SCOREBOARD } from '../src/report/scoreboard.ts';

describe('the options of npm run bench', () => {
  it('measures everything without any', () => {
    expect(readOptions([])).toMatchObject({ task: 'measure', quick: false, only: null, rows: 10_000_000 });
  });

  it('takes lines in any spelling', () => {
    expect(readOptions(['--only', 'p1, O4', '--seed', '7'])).toMatchObject({ only: ['P1', 'O4'], seed: 7 });
  });

  it.each([
    [['--only', 'P1,P99'], /no such line: P99; there are P1/],
    [['--rows', 'many'], /--rows: many is not a whole number/],
    [['--minutes', '-3'], /--minutes/],
    [['--fast'], /--fast/],
  ])('refuses %j and says why', (args, why) => {
    expect(() => readOptions(args)).toThrow(why);
  });

  it('names every line in its help', () => {
    for (const { ids } of BENCHES) for (const id of ids) expect(HELP).toContain(id);
  });
});

describe('the scoreboard', () => {
  it('has a bench for every line, and a line for every bench', () => {
    const measured = [...BENCHES.flatMap(({ ids }) => ids), ...Object.keys(ELSEWHERE)];
    expect(SCOREBOARD.map(({ id }) => id).toSorted()).toEqual(measured.toSorted());
  });
});
