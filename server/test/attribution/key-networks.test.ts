import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordKeyNetworks } from '../../src/flows/operations/record-key-networks.system.ts';
import type { NetworkUse } from '../../src/organizations/key-network.store.ts';
import { KeyNetworks } from '../../src/organizations/key-networks.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';

describe('the noted networks', () => {
  let recordings: NetworkUse[][];
  let networks: KeyNetworks;
  beforeEach(() => {
    recordings = [];
    networks = new KeyNetworks((uses) => Promise.resolve(void recordings.push([...uses])));
  });

  it('are recorded once as new and afterwards only with the known ones', async () => {
    networks.note('a', '203.0.113.1', true);
    await networks.recordNew();
    expect(recordings).toEqual([[{ keyId: 'a', network: '203.0.113.0/24', allowed: true }]]);
    // The next beat: another key is new, and the first one is used again.
    networks.note('a', '203.0.113.2', true);
    networks.note('b', '198.51.100.1', true);
    await networks.recordNew();
    expect(recordings[1]).toEqual([{ keyId: 'b', network: '198.51.100.0/24', allowed: true }]);
    expect(networks.hasNew).toBe(false);
    await networks.recordKnown();
    expect(recordings[2]).toEqual([{ keyId: 'a', network: '203.0.113.0/24', allowed: true }]);
    await networks.recordKnown();
    expect(recordings).toHaveLength(3);
  });

  it('are new again when a rejected network is allowed', async () => {
    networks.note('a', '203.0.113.1', false);
    await networks.recordNew();
    networks.note('a', '203.0.113.1', true);
    expect(networks.hasNew).toBe(true);
  });

  it('stay noted when the recording fails', async () => {
    let fails = true;
    const failing = new KeyNetworks((uses) => {
      if (fails) return Promise.reject(new Error('database is away'));
      return Promise.resolve(void recordings.push([...uses]));
    });
    failing.note('a', '203.0.113.1', true);
    await expect(failing.recordNew()).rejects.toThrow('away');
    expect(failing.hasNew).toBe(true);
    fails = false;
    await failing.recordNew();
    expect(recordings).toHaveLength(1);
  });
});

describe('the recording', () => {
  let database: TestDatabase;
  let caudal: InProcess;
  beforeAll(async () => {
    database = await cloneDatabase();
    caudal = await composeInProcess(settingsFor(database.ownerUrl));
  });
  afterAll(async () => {
    await caudal?.close();
    await database?.drop();
  });

  const newKey = async () => (await caudal.newOrganization()).principal.keyId;
  const record = (uses: readonly NetworkUse[]) => recordKeyNetworks(caudal.deps, caudal.keys, uses);

  /** The stored networks of a key, oldest first, and whether they have an event. */
  function listNetworks(keyId: string): Promise<{ network: string; has_event: boolean }[]> {
    return database.query(
      `select network::text, event_id is not null as has_event from caudal.api_key_networks
       where api_key_id = $1 order by first_seen_at, network`,
      [keyId],
    );
  }

  const countEvents = async (keyId: string) =>
    (await listNetworks(keyId)).filter(({ has_event }) => has_event).length;

  /** `count` networks, beginning with 10.`second`.0.0/24. */
  const uses = (keyId: string, second: number, count: number): NetworkUse[] =>
    Array.from({ length: count }, (_, third) => ({
      keyId,
      network: `10.${second}.${third}.0/24`,
      allowed: true,
    }));

  it('causes at most 20 events of a key in 24 hours and stores the other networks without one', async () => {
    const keyId = await newKey();
    await record(uses(keyId, 0, 15));
    expect(await countEvents(keyId)).toBe(14);
    await record(uses(keyId, 1, 15));
    expect(await countEvents(keyId)).toBe(20);
    expect(await listNetworks(keyId)).toHaveLength(30);
    // Networks beyond 500 are forgotten, but not the 20 events.
    for (const second of [2, 3]) await record(uses(keyId, second, 250));
    expect(await listNetworks(keyId)).toHaveLength(500);
    await record(uses(keyId, 4, 10));
    expect(await countEvents(keyId)).toBe(20);
    await database.query(
      "update caudal.api_key_networks set first_seen_at = first_seen_at - interval '25 hours' where api_key_id = $1",
      [keyId],
    );
    await record(uses(keyId, 5, 1));
    expect(await listNetworks(keyId)).toContainEqual({ network: '10.5.0.0/24', has_event: true });
  });

  it('reports a rejected network even if it is the first, and the first allowed one stays silent', async () => {
    const keyId = await newKey();
    await record([{ keyId, network: '198.51.100.0/24', allowed: false }]);
    await record([{ keyId, network: '203.0.113.0/24', allowed: true }]);
    await record([{ keyId, network: '192.0.2.0/24', allowed: true }]);
    expect(await listNetworks(keyId)).toEqual([
      { network: '198.51.100.0/24', has_event: true },
      { network: '203.0.113.0/24', has_event: false },
      { network: '192.0.2.0/24', has_event: true },
    ]);
  });

  it('takes a rejected network that is allowed later as the first one of the key', async () => {
    const keyId = await newKey();
    const network = '203.0.113.0/24';
    // Both in one recording: some addresses of the network are allowed.
    await record([
      { keyId, network, allowed: true },
      { keyId, network, allowed: false },
    ]);
    await record([{ keyId, network: '198.51.100.0/24', allowed: true }]);
    expect(await countEvents(keyId)).toBe(2);
    const other = await newKey();
    await record([{ keyId: other, network, allowed: false }]);
    await record([
      { keyId: other, network, allowed: true },
      { keyId: other, network: '198.51.100.0/24', allowed: true },
    ]);
    expect(await countEvents(other)).toBe(2);
  });
});
