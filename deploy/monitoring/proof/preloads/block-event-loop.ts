/** Loaded into a server process by the proof: blocks its event loop for most of the time. */
setInterval(() => {
  const until = performance.now() + 900;
  while (performance.now() < until);
}, 1000).unref();
