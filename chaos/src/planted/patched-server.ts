import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Patch } from './planted-bug.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A copy of the server that is patched with one bug at a time. One folder for all bugs, so that they share the compile cache. */
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

  /** @throws when a text does not occur exactly once: the server has changed and the patch must be updated */
  apply(patches: readonly Patch[]): void {
    for (const { file, find, replace } of patches) {
      const path = join(this.root, 'src', file);
      const parts = readFileSync(path, 'utf8').split(find);
      if (parts.length !== 2)
        throw new Error(
          `server/src/${file}: expected exactly one occurrence, found ${parts.length - 1}: ${find}`,
        );
      writeFileSync(path, parts.join(replace));
    }
  }

  /** Restores the original files. */
  revert(patches: readonly Patch[]): void {
    for (const { file } of patches) cpSync(join(ROOT, 'server', 'src', file), join(this.root, 'src', file));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
