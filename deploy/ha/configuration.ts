/** Generated configuration of a test cluster. `production/` contains the files for real machines. */

export interface NodeAddresses {
  /** n1, n2 or n3. */
  readonly name: string;
  readonly host: string;
  readonly postgresPort: number;
  readonly patroniPort: number;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
}

/** Seconds. Patroni requires loopWait + 2 * retryTimeout <= ttl. */
export interface FailoverTimes {
  readonly ttl: number;
  readonly loopWait: number;
  readonly retryTimeout: number;
}

export interface NodeFolders {
  readonly data: string;
  readonly sockets: string;
  /** On another file system; null keeps the WAL in the data directory. */
  readonly wal: string | null;
}

export interface Passwords {
  readonly superuser: string;
  readonly replication: string;
  readonly rewind: string;
}

export const SUPERUSER = 'postgres';
export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';

const SCOPE = 'caudal';
const NAMESPACE = '/caudal/';

/** Where Patroni keeps the name of the leader in etcd, as a path of the v2 API. */
export const LEADER_KEY_PATH = `/v2/keys${NAMESPACE}${SCOPE}/leader`;

/** Patroni 3.0.2 loses acknowledged writes with the v3 API of etcd, so the test cluster uses the v2 API. */
export function etcdArguments(
  node: NodeAddresses,
  nodes: readonly NodeAddresses[],
  folder: string,
): string[] {
  const client = `http://${node.host}:${node.etcdPort}`;
  const peer = (each: NodeAddresses) => `http://${each.host}:${each.etcdPeerPort}`;
  const options = {
    name: node.name,
    'data-dir': folder,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer(node),
    'initial-advertise-peer-urls': peer(node),
    'initial-cluster': nodes.map((each) => `${each.name}=${peer(each)}`).join(','),
    'initial-cluster-state': 'new',
    'initial-cluster-token': 'caudal-ha',
    logger: 'zap',
    'log-level': 'warn',
    'enable-v2': 'true',
  };
  return Object.entries(options).map(([name, value]) => `--${name}=${value}`);
}

/** @returns JSON, which is also YAML */
export function patroniConfiguration(
  node: NodeAddresses,
  nodes: readonly NodeAddresses[],
  folders: NodeFolders,
  passwords: Passwords,
  times: FailoverTimes,
): string {
  const postgres = `${node.host}:${node.postgresPort}`;
  const rest = `${node.host}:${node.patroniPort}`;
  const networks = [...new Set(nodes.map(({ host }) => host.replace(/\.\d+$/, '.0/24')))];
  const waldir = folders.wal === null ? [] : [{ waldir: folders.wal }];
  return JSON.stringify(
    {
      scope: SCOPE,
      namespace: NAMESPACE,
      name: node.name,
      restapi: { listen: rest, connect_address: rest },
      etcd: { hosts: nodes.map(({ host, etcdPort }) => `${host}:${etcdPort}`) },
      bootstrap: {
        dcs: sharedConfiguration(times),
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums', ...waldir],
      },
      postgresql: {
        listen: postgres,
        connect_address: postgres,
        data_dir: folders.data,
        bin_dir: POSTGRES_BIN,
        pgpass: `${folders.sockets}/pgpass`,
        ...(folders.wal === null ? {} : { basebackup: waldir }),
        authentication: {
          superuser: { username: SUPERUSER, password: passwords.superuser },
          replication: { username: 'replicator', password: passwords.replication },
          rewind: { username: 'rewinder', password: passwords.rewind },
        },
        // Replaces the file. `bootstrap.pg_hba` would be appended after lines that trust every login.
        pg_hba: [
          'local all all trust',
          ...networks.flatMap((network) => [
            `host replication replicator ${network} scram-sha-256`,
            `host all all ${network} scram-sha-256`,
          ]),
        ],
        parameters: { unix_socket_directories: folders.sockets },
      },
    },
    null,
    2,
  );
}

function sharedConfiguration({ ttl, loopWait, retryTimeout }: FailoverTimes): object {
  return {
    ttl,
    loop_wait: loopWait,
    retry_timeout: retryTimeout,
    maximum_lag_on_failover: 1_048_576,
    // A primary that crashed is replaced at once instead of recovered in place.
    primary_start_timeout: 0,
    synchronous_mode: true,
    synchronous_mode_strict: true,
    failsafe_mode: true,
    check_timeline: true,
    postgresql: {
      use_pg_rewind: true,
      use_slots: true,
      parameters: {
        shared_buffers: '64MB',
        max_connections: 200,
        max_wal_senders: 10,
        max_replication_slots: 10,
        wal_level: 'replica',
        hot_standby: 'on',
        wal_log_hints: 'on',
        wal_keep_size: '128MB',
        min_wal_size: '32MB',
        max_wal_size: '256MB',
        synchronous_commit: 'on',
        wal_receiver_status_interval: 1,
        wal_sender_timeout: '5s',
        wal_receiver_timeout: '5s',
        wal_retrieve_retry_interval: '500ms',
        lc_messages: 'C',
        timezone: 'UTC',
      },
    },
  };
}

export function haproxyConfiguration(
  address: { readonly host: string; readonly port: number },
  nodes: readonly NodeAddresses[],
): string {
  const servers = nodes.map(
    ({ name, host, postgresPort, patroniPort }) =>
      `  server ${name} ${host}:${postgresPort} check port ${patroniPort}`,
  );
  return `global
  maxconn 1000
defaults
  mode tcp
  retries 1
  timeout connect 1s
  timeout client 30m
  timeout server 30m
  timeout check 1s
listen primary
  bind ${address.host}:${address.port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fastinter 250ms downinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}
