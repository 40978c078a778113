import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamespaceReport } from './namespace-program.ts';

const PROGRAM = fileURLToPath(new URL('namespace-program.ts', import.meta.url));
const SPACE = `caudal-${process.pid}`;
/** What `ip netns exec` lays over /etc for the programs inside. */
const ETC = `/etc/netns/${SPACE}`;

/** A network of its own in which every address there is leads to itself. @returns why it could not be made */
function makeNamespace(): string | null {
  const steps = [
    ['netns', 'add', SPACE],
    ['-n', SPACE, 'link', 'set', 'lo', 'up'],
    ['-n', SPACE, 'route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo'],
    ['-n', SPACE, '-6', 'route', 'add', 'local', '::/0', 'dev', 'lo'],
  ];
  for (const step of steps) {
    const { status, stderr, error } = spawnSync('ip', step, { encoding: 'utf8' });
    if (status !== 0) return `ip ${step.join(' ')}: ${error?.message ?? stderr.trim()}`;
  }
  mkdirSync(ETC, { recursive: true });
  writeFileSync(`${ETC}/resolv.conf`, 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n');
  return null;
}

const obstacle = makeNamespace();
/** A machine of somebody's own may lack what it takes. What lets commits land may not: nobody would see that it is missing. */
if (obstacle !== null && process.env['CI'])
  throw new Error(`no network namespace, which needs root and iproute2: ${obstacle}`);
if (obstacle)
  process.stderr.write(
    `SKIPPED, webhooks in a network namespace of their own (needs root and iproute2): ${obstacle}\n`,
  );
afterAll(() => {
  spawnSync('ip', ['netns', 'del', SPACE]);
  rmSync(ETC, { recursive: true, force: true });
});

describe.skipIf(obstacle !== null)('where every address answers', () => {
  let report: NamespaceReport;
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)('ip', ['netns', 'exec', SPACE, process.execPath, PROGRAM], {
      timeout: 50_000,
      maxBuffer: 8 * 1024 * 1024,
    });
    report = JSON.parse(stdout) as NamespaceReport;
  });

  it('more than a thousand ways to an inside address are refused, and no packet leaves', () => {
    expect(report.slipped).toEqual([]);
    expect(report.forms).toBeGreaterThan(1000);
    expect(report.touched).toEqual([]);
    expect(report.packets).toBe(0);
  });

  it('the canaries sing and packets are counted when a sender has no rules', () => {
    expect(report.reachable).toEqual({
      '127.0.0.1': '200',
      '::1': '200',
      '10.1.2.3': '200',
      '172.16.5.6': '200',
      '192.168.7.8': '200',
      '169.254.169.254': '200',
      'fd00:ec2::254': '200',
      '8.8.4.4': '200',
      '2606:4700:4700::1111': '200',
    });
    expect(report.packetsOfReachable).toBeGreaterThan(9 * 4);
  });

  it("names are judged by what the machine's own resolver says, and a redirect inside is not followed", () => {
    expect(report.names).toEqual({
      'outside.example': '200',
      'redirect.example': '302',
      'ten.example': 'refused_address',
      'metadata.example': 'refused_address',
      'mixed.example': 'refused_address',
      'six.example': 'refused_address',
      'mapped.example': 'refused_address',
      'alias.example': 'refused_address',
      'nobody.example': 'dns',
    });
    expect(report.touchedByNames).toHaveLength(2);
    for (const address of report.touchedByNames)
      expect(['8.8.4.4', '2606:4700:4700::1111']).toContain(address);
  });
});
