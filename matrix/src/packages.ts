import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackages } from '../../scripts/build-packages.ts';

export interface Packages {
  /** Path of the packed SDK. */
  readonly sdk: string;
  /** Names of the tarballs at /packages. */
  readonly sdkName: string;
  readonly cliName: string;
}

/** Builds the packages where the server finds them. */
export async function preparePackages(): Promise<Packages> {
  const folder = fileURLToPath(new URL('../../dist/packages', import.meta.url));
  const [sdkName = '', cliName = ''] = await buildPackages({ replace: true });
  return { sdk: join(folder, sdkName), sdkName, cliName };
}
