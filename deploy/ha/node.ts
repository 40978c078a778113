import type { ChildProcess } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseUser } from '../../scripts/stack/postgres.ts';
import {
  etcdArguments,
  type FailoverTimes,
  type NodeAddresses,
  type Passwords,
  patroniConfiguration,
} from './configuration.ts';
import { isAlive, launch, postgresPids, signal, waitUntilGone } from './process.ts';

export interface NodeOptions {
  readonly addresses: NodeAddresses;
  readonly all: readonly NodeAddresses[];
  readonly folder: string;
  readonly user: DatabaseUser;
  readonly passwords: Passwords;
  readonly times: FailoverTimes;
  /** File of its network namespace; null for the one of this process. */
  readonly network: string | null;
  /** Folder for the WAL on another file system. */
  readonly walFolder: string | null;
}

/** One machine of the cluster: etcd, Patroni, and the PostgreSQL that Patroni starts. */
export class HaNode {
  readonly addresses: NodeAddresses;
  readonly name: string;
  readonly folder: string;
  readonly network: string | null;
  readonly walFolder: string | null;
  readonly #options: NodeOptions;
  readonly #dataFolder: string;
  #etcd: ChildProcess | null = null;
  #patroni: ChildProcess | null = null;

  constructor(options: NodeOptions) {
    const { addresses, folder, user } = options;
    this.#options = options;
    this.addresses = addresses;
    this.name = addresses.name;
    this.folder = folder;
    this.network = options.network;
    this.walFolder = options.walFolder;
    this.#dataFolder = join(folder, 'data');
    for (const path of [folder, join(folder, 'etcd'), ...(this.walFolder === null ? [] : [this.walFolder])])
      makeFolder(path, user);
    const configuration = join(folder, 'patroni.yml');
    const wal = this.walFolder === null ? null : join(this.walFolder, 'pg_wal');
    const folders = { data: this.#dataFolder, sockets: folder, wal };
    const { all, passwords, times } = options;
    writeFileSync(configuration, patroniConfiguration(addresses, all, folders, passwords, times), {
      mode: 0o600,
    });
    own(configuration, user);
  }

  get superuserPassword(): string {
    return this.#options.passwords.superuser;
  }

  get patroniUrl(): string {
    return `http://${this.addresses.host}:${this.addresses.patroniPort}`;
  }

  get etcdUrl(): string {
    return `http://${this.addresses.host}:${this.addresses.etcdPort}`;
  }

  startEtcd(): void {
    const { addresses, all, folder } = this.#options;
    this.#etcd = this.#launch(
      '/usr/bin/etcd',
      etcdArguments(addresses, all, join(folder, 'etcd')),
      'etcd.log',
    );
  }

  startPatroni(): void {
    this.#patroni = this.#launch('/usr/bin/patroni', [join(this.folder, 'patroni.yml')], 'patroni.log');
  }

  etcdPids(): number[] {
    return running(this.#etcd);
  }

  patroniPids(): number[] {
    return running(this.#patroni);
  }

  postgresPids(): number[] {
    return postgresPids(this.#dataFolder);
  }

  /** Stops Patroni first, which would restart PostgreSQL. SIGQUIT lets PostgreSQL remove its shared memory. */
  async stop(): Promise<void> {
    const [postmaster, ...backends] = this.postgresPids();
    const others = [...this.patroniPids(), ...this.etcdPids()];
    const all = [...others, ...backends, ...(postmaster === undefined ? [] : [postmaster])];
    for (const pid of all) signal(pid, 'SIGCONT');
    for (const pid of others) signal(pid, 'SIGKILL');
    if (postmaster !== undefined) signal(postmaster, 'SIGQUIT');
    await waitUntilGone(all);
  }

  #launch(command: string, args: readonly string[], log: string): ChildProcess {
    const { folder, user, network } = this.#options;
    return launch({ command, args, log: join(folder, log), home: folder, user, network });
  }
}

function running(child: ChildProcess | null): number[] {
  return child?.pid !== undefined && isAlive(child.pid) ? [child.pid] : [];
}

/** PostgreSQL rejects folders that other users can read. */
export function makeFolder(path: string, user: DatabaseUser): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  own(path, user);
}

function own(path: string, { uid, gid }: DatabaseUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
