import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Patch } from './planted-bug.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * A copy of the server into which one mistake at a time is planted. One folder for all of them: what Node has compiled
 * of the rest serves the next.
 */
export class PatchedServer {
  /** Holds `src/main.ts`. */
  readonly root: string;
  readonly #folder: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'caudal-planted-'));
    this.root = join(this.#folder, 'server');
    for (const part of ['src', 'migrations', 'package.json'])
      cpSync(join(ROOT, 'server', part), join(this.root, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** @throws when a text is not there exactly once: then the server has changed, and the patch must follow it */
  plant(patches: readonly Patch[]): void {
    for (const { file, find, replace } of patches) {
      const path = join(this.root, 'src', file);
      const parts = readFileSync(path, 'utf8').split(find);
      if (parts.length !== 2)
        throw new Error(`server/src/${file} has ${parts.length - 1} times, instead of once: ${find}`);
      writeFileSync(path, parts.join(replace));
    }
  }

  /** As it was. */
  weed(patches: readonly Patch[]): void {
    for (const { file } of patches) cpSync(join(ROOT, 'server', 'src', file), join(this.root, 'src', file));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
