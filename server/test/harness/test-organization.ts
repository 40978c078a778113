import { runServerCommand } from '../../../scripts/stack/processes.ts';

export interface TestOrganization {
  readonly organizationId: string;
  readonly keyId: string;
  readonly apiKey: string;
}

/** @param args options of `org create` beside the name and the contact */
export async function createOrganization(
  settings: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<TestOrganization> {
  const details = ['--name', 'Tienda Aurora', '--support', 'ayuda@aurora.example', '--json'];
  const output = await runServerCommand(['org', 'create', ...details, ...args], { ...settings });
  return JSON.parse(output) as TestOrganization;
}
