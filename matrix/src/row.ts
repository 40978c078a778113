import type { Deliveries } from './deliveries.ts';
import type { Packages } from './packages.ts';
import type { Runtimes } from './runtimes.ts';

/** What a row needs to run. */
export interface MatrixContext {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly deliveries: Deliveries;
  readonly packages: Packages;
  readonly runtimes: Runtimes;
  /** Outside the repository, so that none of its modules can be resolved. */
  readonly scratch: string;
}

export interface Row {
  readonly package: '@caudal/sdk' | '@caudal/cli' | 'openapi.json';
  readonly runtime: string;
  readonly modules: string;
  /** Test runner, compiler or framework. */
  readonly tool: string;
  /** @throws when the combination does not work; NotInstalled when it cannot be tried here */
  run(context: MatrixContext): Promise<void>;
}

/** A runtime that cannot be installed on this machine. */
export class NotInstalled extends Error {}

export function rowText({ package: name, runtime, modules, tool }: Row): string {
  return [name, runtime, modules, tool].join(' | ');
}
