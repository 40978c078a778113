/**
 * npm run sbom: prints the software bill of materials of a production installation as CycloneDX 1.6 JSON, from
 * package-lock.json alone. `npm sbom --omit dev` is not used: in a repository with workspaces it leaves out production
 * packages that the root also uses for development (pg, undici, zod, sharp).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type LockedPackage, type Lockfile, packageName, productionPackages } from './stack/lockfile.ts';

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lockfile;
const paths = productionPackages(lock);

const purl = (path: string, { version = '' }: LockedPackage) =>
  `pkg:npm/${packageName(path).replace('@', '%40')}@${version}`;

const components = [...paths].map(([path, entry]) => ({
  type: 'library',
  'bom-ref': path,
  name: packageName(path),
  version: entry.version ?? '',
  scope: entry.optional ? 'optional' : 'required',
  ...(entry.license === undefined ? {} : { licenses: [{ expression: entry.license }] }),
  purl: purl(path, entry),
  hashes: [hash(entry.integrity ?? '')],
}));

const dependencies = [...paths].map(([path, entry]) => ({
  ref: path,
  dependsOn: Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }).flatMap(
    (name) => resolve(path, name) ?? [],
  ),
}));

const root = { type: 'application', 'bom-ref': 'caudal', name: 'caudal', version: lock.version } as const;
const body = {
  metadata: { component: root },
  components,
  dependencies: [
    { ref: root['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) },
    ...dependencies,
  ],
};
// Derived from the contents: the same lockfile gives the same document.
const serial = createHash('sha256').update(JSON.stringify(body)).digest('hex');
const uuid = serial.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
console.log(
  JSON.stringify(
    {
      $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      serialNumber: `urn:uuid:${uuid}`,
      version: 1,
      ...body,
    },
    null,
    2,
  ),
);

/** The lockfile has `sha512-BASE64`, CycloneDX wants the name of the algorithm and hex. */
function hash(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-', 2);
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
}

/** Finds a package as Node does: in the folder of the dependent, then in the folders above it. */
function resolve(from: string, name: string): string | null {
  for (let folder = from; ; ) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (paths.has(path)) return path;
    if (folder === '') return null;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1));
  }
}
