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
    // npm publish compares the repository with the one that the workflow runs in.
    ...repository(),
    publishConfig: { access: 'public', provenance: true },
  };
}

function repository(): object {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env;
  if (server === undefined || path === undefined) return {};
  const url = `${server}/${path}`;
  return {
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
  };
}
