import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach } from 'vitest';
import { runningChildren } from '../../../scripts/stack/child.ts';
import { repeatedRequests } from './repeated-requests.ts';

const MAX_LINES = 20;
const ARRIVES_WITHIN_MS = 300;

/** Prints the warnings and errors that the servers of a failed test logged: a 500 alone does not say why. */
beforeEach(({ onTestFailed }) => {
  onTestFailed(async () => {
    // The servers' output may still be on its way.
    await sleep(ARRIVES_WITHIN_MS);
    for (const { name, output } of runningChildren()) {
      const lines = output()
        .split('\n')
        .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
        .slice(-MAX_LINES);
      if (lines.length > 0) process.stderr.write(`log of ${name}:\n${lines.join('\n')}\n`);
    }
  });
});

/** Each one hides a late heartbeat; `.ci/long timing` repeats none. */
afterAll(() => {
  if (repeatedRequests() > 0)
    process.stderr.write(`${repeatedRequests()} requests were sent again after 503 service_unavailable\n`);
});
