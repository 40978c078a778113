import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The oldest Node on which the matrix runs the packages. */
const ENGINES = { node: '>=20.18' };

/** Fields that all published packages have. `folder` is the workspace of the package. */
export function commonManifest(folder: string): Record<string, unknown> {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
    'name' | 'version' | 'license',
    string
  >;
  return {
    name,
    version,
    license,
    engines: ENGINES,
    // npm publish compares it with the repository that the workflow runs in.
    ...repository(),
    publishConfig: { access: 'public', provenance: true },
  };
}

/** Only the workflow that publishes sets it: the tarballs of all other builds are the same. */
function repository(): object {
  const url = process.env['PACKAGE_REPOSITORY'];
  if (url === undefined) return {};
  return {
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
  };
}
