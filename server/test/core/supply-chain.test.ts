import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type LockedPackage, type Lockfile, productionPackages } from '../../../scripts/stack/lockfile.ts';
import { lockfileProblems } from '../../../scripts/stack/lockfile-problems.ts';

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const lock = JSON.parse(readFileSync(root('package-lock.json'), 'utf8')) as Lockfile;

describe('the check of the lockfile', () => {
  const LINUX = { os: 'linux', cpu: 'x64', libc: 'glibc' };
  const CHECKSUM = `sha512-${Buffer.alloc(64, 7).toString('base64')}`;
  const problems = (entry: LockedPackage) =>
    lockfileProblems({ version: '1', packages: { '': {}, 'node_modules/tool': entry } }, LINUX);
  const problem = ['node_modules/tool has no sha512 checksum'];

  it('accepts a package with a checksum, and workspaces without', () => {
    expect(problems({ integrity: CHECKSUM })).toEqual([]);
    expect(problems({ link: true })).toEqual([]);
  });

  it('rejects a package without a checksum, or with a weak one', () => {
    expect(problems({ dev: true })).toEqual(problem);
    expect(problems({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' })).toEqual(problem);
  });

  it('rejects it on its platform, and on every platform when production installs it', () => {
    const tool: LockedPackage = { dev: true, optional: true, cpu: ['x64'] };
    expect(problems({ ...tool, os: ['linux'] })).toEqual(problem);
    expect(problems(tool)).toEqual(problem);
    expect(problems({ ...tool, os: ['darwin'] })).toEqual([]);
    expect(problems({ ...tool, os: ['linux'], libc: ['musl'] })).toEqual([]);
    expect(problems({ optional: true, os: ['darwin'] })).toEqual(problem);
  });
});

const reference = z.string().min(1);
/** The parts of CycloneDX 1.6 that the document uses, with the rules of its JSON schema. */
const bom = z.strictObject({
  $schema: z.literal('http://cyclonedx.org/schema/bom-1.6.schema.json'),
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z
    .string()
    .regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  version: z.int().min(1),
  metadata: z.strictObject({
    component: z.strictObject({
      type: z.literal('application'),
      'bom-ref': reference,
      name: z.string().min(1),
      version: z.string().min(1),
    }),
  }),
  components: z.array(
    z.strictObject({
      type: z.literal('library'),
      'bom-ref': reference,
      name: z.string().min(1),
      version: z.string().min(1),
      scope: z.enum(['required', 'optional', 'excluded']),
      licenses: z.array(z.strictObject({ expression: z.string().min(1) })).length(1),
      purl: z.string().regex(/^pkg:npm\/(?:%40[a-z0-9.-]+\/)?[a-z0-9._-]+@\d+\.\d+\.\d+/),
      hashes: z.array(
        z.strictObject({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }),
      ),
    }),
  ),
  dependencies: z.array(z.strictObject({ ref: reference, dependsOn: z.array(reference) })),
});

describe('npm run sbom', () => {
  const run = () => spawnSync(process.execPath, [root('scripts/sbom.ts')], { encoding: 'utf8' });

  it('prints a valid CycloneDX 1.6 document with every production package and its checksum', () => {
    const { stdout, stderr } = run();
    expect(stderr).toBe('');
    const { metadata, components, dependencies } = bom.parse(JSON.parse(stdout));
    const references = [metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])];
    expect(new Set(references).size).toBe(references.length);
    expect(dependencies.map(({ ref }) => ref).sort()).toEqual(references.toSorted());
    for (const { dependsOn } of dependencies)
      expect(dependsOn.filter((each) => !references.includes(each))).toEqual([]);
    expect(components).toHaveLength(productionPackages(lock).size);
    const names = components.map(({ name }) => name);
    const { dependencies: direct } = JSON.parse(readFileSync(root('server/package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(names).toEqual(
      expect.arrayContaining(Object.keys(direct).filter((name) => !name.startsWith('@caudal/'))),
    );
    expect(names).not.toContain('vitest');
  });

  it('prints the same document for the same lockfile', () => {
    expect(run().stdout).toBe(run().stdout);
  });
});
