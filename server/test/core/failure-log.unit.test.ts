import { describe, expect, it } from 'vitest';
import { FailureLog } from '../../src/db/failure-log.ts';
import { ConnectionLost } from '../../src/db/failures.ts';
import { makeLog } from '../../src/kit/log.ts';

type Entry = Readonly<Record<string, unknown>>;

function startRecording(options: ConstructorParameters<typeof FailureLog>[1]) {
  const entries: Entry[] = [];
  const log = makeLog({
    level: 'info',
    base: {},
    stream: { write: (line) => void entries.push(JSON.parse(line) as Entry) },
  });
  return { entries, failures: new FailureLog(log, options) };
}

const connectionLost = () => new ConnectionLost(new Error('connect ECONNREFUSED'));
const codes = (entries: readonly Entry[]) => entries.map(({ code }) => code);

describe('failures of background operations', () => {
  it('because of a lost database are one incident, whichever operations fail', () => {
    const { entries, failures } = startRecording({ quietForMs: 0 });
    for (let round = 0; round < 100; round += 1)
      for (const operation of ['poll due work', 'event_dispatch', 'run schedules'])
        failures.failed(operation, connectionLost());
    failures.succeeded('poll due work');
    failures.succeeded('event_dispatch');
    expect(codes(entries)).toEqual(['database_connection_lost', 'database_connection_restored']);
    expect(entries[1]).toMatchObject({
      count: 300,
      operation: 'event_dispatch, poll due work, run schedules',
    });
  });

  it('are summarized with their count while they last', () => {
    const { entries, failures } = startRecording({ summaryEveryMs: 0 });
    for (let round = 0; round < 3; round += 1) failures.failed('poll due work', connectionLost());
    expect(codes(entries)).toEqual([
      'database_connection_lost',
      'database_connection_failing',
      'database_connection_failing',
    ]);
    expect(entries.map(({ count }) => count)).toEqual([undefined, 2, 3]);
  });

  it('continue while one operation succeeds and another still fails', () => {
    const { entries, failures } = startRecording({ quietForMs: 60_000 });
    for (let round = 0; round < 10; round += 1) {
      failures.failed('receive_work_signals', connectionLost());
      failures.succeeded('poll due work');
    }
    expect(codes(entries)).toEqual(['database_connection_lost']);
  });

  it('of another cause are an incident of their operation', () => {
    const { entries, failures } = startRecording({ quietForMs: 0 });
    failures.failed('event_dispatch', new Error('a bug'));
    failures.failed('event_dispatch', new Error('a bug'));
    failures.failed('link_expiry', new Error('another bug'));
    failures.succeeded('poll due work');
    failures.succeeded('event_dispatch');
    expect(entries.map(({ code, operation }) => [code, operation])).toEqual([
      ['operation_failed', 'event_dispatch'],
      ['operation_failed', 'link_expiry'],
      ['operation_recovered', 'event_dispatch'],
    ]);
  });
});
