import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { PATIENT_SETTINGS } from '../../../scripts/testing/patient-settings.ts';
import { ApiClient } from './api-client.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { SimulatorControl } from './simulator-control.ts';
import { createOrganization, type TestOrganization } from './test-organization.ts';

/** A complete Caudal for one test file: its own database, simulator, API and worker processes. */
export interface Stack {
  readonly database: TestDatabase;
  readonly simulatorUrl: string;
  readonly simulator: Child;
  /** Folder of the simulator's journal. */
  readonly simulatorData: string;
  /** Advances business time in the database and in the simulator. */
  shiftTime(ms: number): Promise<void>;
  readonly apis: readonly (Child & { readonly url: string; readonly opsUrl: string })[];
  readonly workers: readonly (Child & { readonly opsUrl: string })[];
  readonly settings: Record<string, string>;
  /** The organization created for this stack, and a client with its API key. */
  readonly organization: TestOrganization;
  readonly api: ApiClient;
  newOrganization(...args: readonly string[]): Promise<TestOrganization>;
  command(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

interface StackOptions {
  readonly apis?: number;
  readonly workers?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Replaces the database URL of the server, for a proxy that cuts connections. */
  readonly databaseUrl?: (direct: string) => string;
  /** Used instead of a clone of the template; dropped with the stack. */
  readonly database?: TestDatabase;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const database = options.database ?? (await cloneDatabase(inject('postgres').stackTemplate));
  const folder = mkdtempSync(join(tmpdir(), 'caudal-stack-'));
  let shiftedMs = 0;
  const simulator = await startSimulator(folder);
  const port = await freePort();
  const databaseUrl = options.databaseUrl?.(database.ownerUrl) ?? database.ownerUrl;
  const settings = {
    ...serverSettings({ databaseUrl, simulatorUrl: simulator.url, baseUrl: `http://127.0.0.1:${port}` }),
    ...PATIENT_SETTINGS,
    CAUDAL_LOG_LEVEL: 'warn',
    ...options.settings,
  };
  const command = (...args: readonly string[]) =>
    runServerCommand(args, { ...settings, DATABASE_URL: database.ownerUrl });
  const newOrganization = (...args: readonly string[]) =>
    createOrganization({ ...settings, DATABASE_URL: database.ownerUrl }, ...args);
  const organization = options.database ? await newOrganization() : inject('postgres').organization;
  const startApis = Promise.all(
    Array.from({ length: options.apis ?? 1 }, async (_, index) => {
      const child = await startServer('api', { ...settings, CAUDAL_PORT: String(index === 0 ? port : 0) });
      return {
        ...child,
        url: `http://127.0.0.1:${String(child.ready['port'])}`,
        opsUrl: `http://127.0.0.1:${String(child.ready['opsPort'])}`,
      };
    }),
  );
  const startWorkers = Promise.all(
    Array.from({ length: options.workers ?? 0 }, async () => {
      const child = await startServer('worker', settings);
      return { ...child, opsUrl: `http://127.0.0.1:${String(child.ready['opsPort'])}` };
    }),
  );
  const [apis, workers] = await Promise.all([startApis, startWorkers]);
  if (apis.length > 0)
    await new SimulatorControl(simulator.url).setNotificationUrls(apis.map((api) => api.url));
  return {
    database,
    simulatorUrl: simulator.url,
    simulator,
    simulatorData: folder,
    shiftTime: async (ms) => {
      const control = new SimulatorControl(simulator.url);
      // Shift the rail first: a key that the server considers expired must have been payable until then by
      // every clock.
      await control.shiftTime((shiftedMs += ms));
      await database.query(`select caudal.shift_time(make_interval(secs => $1))`, [ms / 1000]);
    },
    apis,
    workers,
    settings,
    organization,
    api: new ApiClient(apis[0]?.url ?? '', { 'x-api-key': organization.apiKey }),
    newOrganization,
    command,
    stop: async () => {
      await Promise.all([...apis, ...workers].map((child) => child.stop()));
      await simulator.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
