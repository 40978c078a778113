import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range of outgoing connections (from 32768 on Linux): one could take a port before its process listens. */
const FIRST_PORT = 15_000;
const BLOCKS = 300;
const BLOCK_SIZE = 50;

/** First ports of the blocks that this process owns. It listens on them until it ends, so that no other process uses the block. */
const owned: number[] = [];
let given = 0;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Picks a free port that no other call picks, in this process or in another, even while nothing listens on it yet or its
 * process restarts. Each process gives the ports of blocks of its own, and gives one again only when no block is left.
 */
export function freePort(): Promise<number> {
  const port = previous.then(pickPort);
  previous = port.catch(() => undefined);
  return port;
}

async function pickPort(): Promise<number> {
  for (;;) {
    if (given === owned.length * (BLOCK_SIZE - 1) && !(await takeBlock())) given = 0;
    const block = owned[Math.floor(given / (BLOCK_SIZE - 1))];
    if (block === undefined)
      throw new Error(`no free ports from ${FIRST_PORT} to ${FIRST_PORT + BLOCKS * BLOCK_SIZE}`);
    const port = block + 1 + (given % (BLOCK_SIZE - 1));
    given += 1;
    const server = await listen(port);
    if (server === null) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

async function takeBlock(): Promise<boolean> {
  const start = randomInt(BLOCKS);
  for (let tried = 0; tried < BLOCKS; tried += 1) {
    const port = FIRST_PORT + ((start + tried) % BLOCKS) * BLOCK_SIZE;
    const server = await listen(port);
    if (server === null) continue;
    server.unref();
    owned.push(port);
    return true;
  }
  return false;
}

function listen(port: number): Promise<ReturnType<typeof createServer> | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
