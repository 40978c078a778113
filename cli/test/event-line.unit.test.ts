import { expect, test } from 'vitest';
import { EVENT_SAMPLES } from '../../sdk/src/generated/event-samples.ts';
import { eventLine } from '../src/events/event-line.ts';
import { Screen } from '../src/output/screen.ts';

test('the line of an event about an API key has the network and the key', () => {
  const line = eventLine(
    new Screen({ json: false, columns: 120 }),
    EVENT_SAMPLES['api_key.used_from_new_network'],
  );
  expect(line).toMatch(/api_key\.used_from_new_network +203\.0\.113\.0\/24 .*key.* 0100000000000000/);
});
