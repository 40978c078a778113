import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordKeyNetworks } from '../../src/flows/operations/record-key-networks.system.ts';
import { KeyNetworks, type NotedUse } from '../../src/organizations/key-networks.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';

describe('the noted networks', () => {
  let recordings: NotedUse[][];
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
  const record = (uses: readonly NotedUse[]) => recordKeyNetworks(caudal.deps, caudal.keys, uses);

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
  const uses = (keyId: string, second: number, count: number): NotedUse[] =>
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
});
