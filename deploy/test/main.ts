/**
 * Checks what deploy/ offers: the compose file, the systemd units and the Kubernetes manifests; then builds the image and
 * follows docs/operating/containers.md with it to the first payment. Needs root and Debian's buildah, docker-compose,
 * iproute2, mmdebstrap, postgresql-15 and systemd.
 *
 *   node deploy/test/main.ts [--without-image]
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildah, IMAGE } from './buildah.ts';
import { check, finishChecks } from './checks.ts';
import { checkCompose } from './compose.ts';
import { buildImage, checkConfig, checkContents, makeBase } from './image.ts';
import { checkManifests } from './manifests.ts';
import { makeSecrets } from './role-environment.ts';
import { checkUnits } from './units.ts';

const folder = mkdtempSync(join(tmpdir(), 'caudal-deploy-'));
// PostgreSQL runs as another user.
chmodSync(folder, 0o755);

try {
  const secrets = makeSecrets(folder);
  await check('compose.yaml is valid, and each service has the secrets of its role', () =>
    checkCompose(secrets),
  );
  await check('the systemd units are valid and hardened', () => checkUnits(folder, secrets));
  await check('the Kubernetes manifests are valid', () => checkManifests(secrets));
  if (!process.argv.includes('--without-image')) await checkImage();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = finishChecks();

async function checkImage(): Promise<void> {
  const built =
    (await check('base image of Debian packages and Node', () => makeBase(folder))) &&
    (await check('the image builds', () => buildImage(folder)));
  if (!built) return;
  await check('the image has its user, command, health check and labels', () => checkConfig(folder));
  const container = buildah(folder, ['from', IMAGE]);
  const root = buildah(folder, ['mount', container]);
  await check('the image contains what production needs and no more', () => checkContents(root));
  writeFileSync(
    join(folder, 'prepared.json'),
    JSON.stringify({ container, writable: writableFolders(root) }),
  );
  await check('docs/operating/containers.md leads from the image to a confirmed payment', followPage);
  buildah(folder, ['umount', container]);
}

function writableFolders(root: string): string[] {
  const { stdout } = spawnSync('find', [root, '-type', 'd', '-perm', '-0002', '-printf', '/%P\n'], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((path) => path !== '');
}

function followPage(): void {
  const script = fileURLToPath(new URL('follow-page.ts', import.meta.url));
  const args = ['--net', 'sh', '-c', 'ip link set lo up && exec "$0" "$1"', process.execPath, script];
  const { status, stdout, stderr } = spawnSync('unshare', args, {
    env: { ...process.env, IMAGE_FOLDER: folder },
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  if (status !== 0) throw new Error(stderr);
}
