import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { expectEqual } from './checks.ts';
import { checkRole } from './role-environment.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MANIFESTS = fileURLToPath(new URL('../kubernetes', import.meta.url));
const KUSTOMIZATION = 'Kustomization';
const MOUNT = '/run/secrets/caudal';

interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

interface PodSpec {
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly securityContext: unknown;
  }[];
  readonly volumes: readonly { readonly secret: { readonly items: readonly { readonly key: string }[] } }[];
  readonly securityContext: { readonly runAsNonRoot: boolean };
}

function readManifests(): Manifest[] {
  const files = readdirSync(MANIFESTS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.yaml'),
  );
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8')).map((document) => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('\n')}`);
      return { ...(document.toJS() as Manifest), file };
    }),
  );
}

/** The module of kubernetes-models with the type and the validator of a manifest. */
function moduleOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/** Validates values by the schemas of the API; unknown fields, which these accept, by its types. */
export async function checkManifests(secrets: string): Promise<void> {
  const all = readManifests();
  const manifests = all.filter(({ kind }) => kind !== KUSTOMIZATION);
  if (manifests.length < 12) throw new Error(`only ${manifests.length} manifests found`);
  for (const manifest of manifests) await validateValues(manifest);
  checkFields(manifests);
  checkResources(all);
  for (const [role, kind] of [
    ['api', 'Deployment'],
    ['worker', 'Deployment'],
    ['migrate', 'Job'],
  ] as const)
    checkPod(
      role,
      find(manifests, kind, `caudal-${role}`),
      find(manifests, 'ConfigMap', 'caudal-settings'),
      secrets,
    );
}

async function validateValues(manifest: Manifest): Promise<void> {
  const { file, ...fields } = manifest;
  const models = (await import(moduleOf(manifest))) as Record<
    string,
    new (
      fields: object,
    ) => { validate(): void }
  >;
  const Model = models[manifest.kind];
  if (!Model) throw new Error(`${file}: no model of ${manifest.kind}`);
  try {
    new Model(fields).validate();
  } catch (error) {
    throw new Error(`${file}: ${String(error)}`, { cause: error });
  }
}

/** The compiler rejects fields of an object literal that its type does not have. */
function checkFields(manifests: readonly Manifest[]): void {
  const folder = join(ROOT, 'node_modules', '.cache', 'deploy-manifests');
  const lines = manifests.map(({ file, ...fields }, index) =>
    [
      `// ${file}`,
      `import type { I${fields.kind} as T${index} } from '${moduleOf(fields)}';`,
      `export const manifest${index}: T${index} = ${JSON.stringify(fields, null, 2)};`,
    ].join('\n'),
  );
  const source = join(folder, 'manifests.ts');
  mkdirSync(dirname(source), { recursive: true });
  try {
    writeFileSync(source, `${lines.join('\n')}\n`);
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      '',
    ];
    const { status, stdout } = spawnSync('npx', ['tsc', '--ignoreConfig', ...options, source], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every manifest belongs to the kustomization of its folder. */
function checkResources(all: readonly Manifest[]): void {
  for (const kustomization of all.filter(({ kind }) => kind === KUSTOMIZATION)) {
    const folder = dirname(kustomization.file);
    const files = all
      .filter(({ file, kind }) => dirname(file) === folder && kind !== KUSTOMIZATION)
      .map(({ file }) => relative(folder, file));
    const resources = kustomization['resources'] as readonly string[];
    expectEqual([...resources].sort(), [...new Set(files)].sort(), `resources of ${kustomization.file}`);
  }
}

function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`${kind} ${name} is missing`);
  return found;
}

function checkPod(
  role: 'api' | 'worker' | 'migrate',
  owner: Manifest,
  settings: Manifest,
  secrets: string,
): void {
  const pod = (owner['spec'] as { template: { spec: PodSpec } }).template.spec;
  const [container] = pod.containers;
  const [volume] = pod.volumes;
  if (!container || !volume) throw new Error(`${owner.file}: no container or volume`);
  expectEqual(
    container.securityContext,
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    `security context of ${role}`,
  );
  expectEqual(pod.securityContext.runAsNonRoot, true, `runAsNonRoot of ${role}`);
  const environment = {
    ...(settings['data'] as Record<string, string>),
    ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
  };
  const files = volume.secret.items.map(({ key }) => key);
  checkRole(role, environment, MOUNT, files, secrets);
}
