/**
 * npm run audit:signatures: verifies the signatures with which the registry signed the installed packages. Mirrors often
 * publish no signing keys: then it says so and succeeds, because the checksums of the lockfile are verified anyway.
 */
import { execFileSync, spawnSync } from 'node:child_process';

const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();

if (!(await publishesKeys())) {
  console.log(
    'NOT VERIFIED: the configured registry publishes no signing keys. Checksums are verified by npm ci.',
  );
} else {
  const { status, stdout, stderr } = spawnSync('npm', ['audit', 'signatures'], { encoding: 'utf8' });
  console.log(`${stdout}${stderr}`.trim());
  if (status !== 0 && /npm error (?:code E[A-Z]+|network)/.test(stderr))
    console.log('NOT VERIFIED: npm could not reach the servers that it needs.');
  else process.exitCode = status ?? 1;
}

async function publishesKeys(): Promise<boolean> {
  try {
    const response = await fetch(new URL('-/npm/v1/keys', registry), { signal: AbortSignal.timeout(10_000) });
    const { keys } = (await response.json()) as { keys?: unknown[] };
    return response.ok && (keys?.length ?? 0) > 0;
  } catch {
    return false;
  }
}
