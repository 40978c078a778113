import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

/** The machine decides where npm finds packages and which certificates it trusts; the settings of this repository do not count. */
function npmEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('npm_') || /^npm_config_(?:registry|cafile|userconfig|cache)$/.test(name),
  );
  return Object.fromEntries(inherited) as Record<string, string>;
}

/** Creates a project and installs packages (`name@version`, a URL or the path of a tarball) without running their scripts. */
export async function installProject(
  folder: string,
  packages: readonly string[],
  type: 'module' | 'commonjs' = 'commonjs',
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const manifest = { name: 'merchant', version: '1.0.0', private: true, type };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await npm(folder, ['install', '--save-exact', ...packages]);
}

export function npm(folder: string, args: readonly string[]): Promise<string> {
  return runProgram(
    'npm',
    [...args, '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5', '--loglevel=error'],
    {
      cwd: folder,
      env: npmEnvironment(),
      withinMs: 300_000,
    },
  );
}
