import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { makeDatabaseFolder } from '../../../scripts/stack/memory-folder.ts';
import { createOwner, OWNER, type PostgresCluster, startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { PATIENT_SETTINGS } from '../../../scripts/testing/patient-settings.ts';
import { createOrganization, type TestOrganization } from './test-organization.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: {
      /** Database `postgres`, as the superuser. */
      readonly adminUrl: string;
      /** The same database as the schema owner, which is not a superuser. */
      readonly ownerUrl: string;
      /** A migrated database. */
      readonly template: string;
      /** A migrated database with one organization, for complete stacks. */
      readonly stackTemplate: string;
      readonly organization: TestOrganization;
      readonly dataDir: string;
    };
  }
}

/**
 * Starts one PostgreSQL for the whole run with a migrated template database; each test file clones it in about
 * 50 ms.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The binaries of the project 'compatibility'.
  const binaries = project.config.env?.['POSTGRES_BIN'];
  if (binaries) process.env['POSTGRES_BIN'] = binaries;
  const folder = makeDatabaseFolder('caudal-test-');
  const cluster = await startPostgres({
    dataDir: join(folder, 'pg'),
    settings: { max_connections: '400', shared_buffers: '256MB' },
    temporaryFolder: folder,
  });
  const stop = async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const template = await migratedTemplate(cluster);
    project.provide('postgres', {
      adminUrl: cluster.url('postgres'),
      ownerUrl: cluster.ownerUrl('postgres'),
      template,
      ...(await templateWithOrganization(cluster, template)),
      dataDir: cluster.dataDir,
    });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function migratedTemplate(cluster: PostgresCluster): Promise<string> {
  const template = 'caudal_template';
  const admin = new Client({ connectionString: cluster.url('postgres') });
  await admin.connect();
  await createOwner(admin);
  await admin.query(`create database ${template} owner ${OWNER}`);
  await admin.end();
  await runServerCommand(['migrate'], settingsFor(cluster, template));
  return template;
}

async function templateWithOrganization(
  cluster: PostgresCluster,
  template: string,
): Promise<{ stackTemplate: string; organization: TestOrganization }> {
  const stackTemplate = 'caudal_template_stack';
  const admin = new Client({ connectionString: cluster.url('postgres') });
  await admin.connect();
  await admin.query(`create database ${stackTemplate} template ${template} owner ${OWNER}`);
  await admin.end();
  return { stackTemplate, organization: await createOrganization(settingsFor(cluster, stackTemplate)) };
}

function settingsFor(cluster: PostgresCluster, database: string): Record<string, string> {
  const nowhere = 'http://127.0.0.1:1';
  return {
    ...serverSettings({ databaseUrl: cluster.ownerUrl(database), simulatorUrl: nowhere, baseUrl: nowhere }),
    ...PATIENT_SETTINGS,
  };
}
