import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { expectEqual } from './checks.ts';
import { checkRole } from './role-environment.ts';

const FILE = fileURLToPath(new URL('../compose.yaml', import.meta.url));
const SERVERS = ['api', 'worker', 'migrate'] as const;
const SERVICES = [...SERVERS, 'operator', 'simulator'] as const;

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly { readonly source: string }[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
}

/** The file with its variables and anchors resolved. docker-compose fails when it is invalid. */
function readCompose(): Readonly<Record<string, Service>> {
  const text = execFileSync('docker-compose', ['--file', FILE, '--profile', 'operator', 'config'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return (parse(text) as { services: Record<string, Service> }).services;
}

export function checkCompose(secrets: string): void {
  const services = readCompose();
  expectEqual(Object.keys(services).sort(), [...SERVICES, 'postgres', 'prometheus'].sort(), 'services');
  for (const name of SERVICES) {
    const service = services[name];
    expectEqual(service?.read_only, true, `read_only of ${name}`);
    expectEqual(service?.cap_drop, ['ALL'], `cap_drop of ${name}`);
    expectEqual(service?.stop_grace_period, '30s', `stop_grace_period of ${name}`);
  }
  for (const role of SERVERS) {
    const { environment = {}, secrets: mounted = [] } = services[role] ?? {};
    const names = mounted.map(({ source }) => source);
    checkRole(role, environment, '/run/secrets', names, secrets);
  }
}
