/**
 * Named points where a test can kill the process as with `kill -9`: before and after every commit and every rail call.
 * The configuration arms one failpoint, never in production; an unarmed failpoint costs one comparison.
 */
let armed: { readonly name: string; left: number } | null = null;

/** @param text a name, or `name#n` to kill the process at the n-th pass */
export function armFailpoint(text: string): void {
  const [name = '', nth = '1'] = text.split('#');
  armed = { name, left: Number(nth) };
}

export function passFailpoint(name: string): void {
  if (armed === null || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left > 0) return;
  // Nothing is flushed, closed or caught: only data on disk and at peers survives.
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
