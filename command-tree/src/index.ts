export { type OptionValues, type Parsed, parseArguments } from './command-tree.ts';
export type {
  ArgumentDescription,
  CommandDescription,
  OptionDescription,
  OverviewRow,
  Program,
} from './description.ts';
export { nearest } from './nearest.ts';
export { UsageProblem } from './usage-problem.ts';
