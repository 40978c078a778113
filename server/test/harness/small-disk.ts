import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { inject } from 'vitest';
import { ACCEPT_COPY, OWNER } from '../../../scripts/stack/postgres.ts';
import type { TestDatabase } from './database.ts';

const SIZE_MB = 128;

/**
 * A migrated database on its own volume, which a test can fill up. The WAL is on another volume and stays
 * writable.
 */
export interface SmallDisk {
  readonly database: TestDatabase;
  fill(): void;
  empty(): void;
  remove(): Promise<void>;
}

/** Requires root: mounts a tmpfs. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  const { adminUrl, ownerUrl, template, dataDir } = inject('postgres');
  const folder = mkdtempSync(join(tmpdir(), 'caudal-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0755`, 'tmpfs', folder]);
  const space = join(folder, 'space');
  mkdirSync(space, { mode: 0o700 });
  const { uid, gid } = statSync(dataDir);
  chownSync(space, uid, gid);
  const name = `disk_${randomBytes(6).toString('hex')}`;
  await query(adminUrl, `create tablespace ${name} location '${space}'`);
  // Waits for other sessions that are copying the template.
  await query(
    adminUrl,
    `create database ${name} template ${template} owner ${OWNER} tablespace ${name}`,
    'select pg_advisory_lock(7)',
  );
  const url = adminUrl.replace(/\/postgres$/, `/${name}`);
  await query(url, ACCEPT_COPY);
  const drop = async () => {
    await query(adminUrl, `drop database if exists ${name} with (force)`);
    await query(adminUrl, `drop tablespace if exists ${name}`);
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  const ballast = join(folder, 'ballast');
  return {
    database: {
      url,
      ownerUrl: ownerUrl.replace(/\/postgres$/, `/${name}`),
      name,
      query: (text) => query(url, text),
      drop,
    },
    fill: () => fill(ballast),
    empty: () => rmSync(ballast, { force: true }),
    remove: drop,
  };
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let bytes = 1024 * 1024; bytes >= 512; bytes /= 2) writeUntilFull(file, Buffer.alloc(bytes, 1));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) === piece.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

async function query<Row extends object>(url: string, text: string, before?: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    if (before !== undefined) await client.query(before);
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
