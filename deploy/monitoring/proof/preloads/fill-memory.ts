/** Loaded into a server process by the proof: occupies more than a gibibyte of memory. */
const filled = Buffer.alloc(1200 * 1024 * 1024, 1);
setInterval(() => filled.at(0), 60_000).unref();
