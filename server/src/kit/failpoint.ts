/**
 * Named places where a test may have the process die as by `kill -9`: before and after every commit and every call to a
 * rail. Armed once, by the configuration, never in production; unarmed it costs one comparison.
 */
let armed: { readonly name: string; left: number } | null = null;

/** @param text a name, or `name#n` to die at the n-th passing */
export function armFailpoint(text: string): void {
  const [name = '', nth = '1'] = text.split('#');
  armed = { name, left: Number(nth) };
}

export function passFailpoint(name: string): void {
  if (armed === null || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left > 0) return;
  // Nothing is flushed, closed or caught: what the disk and the peers have is all that is left.
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}
