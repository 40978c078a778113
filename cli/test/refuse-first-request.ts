/**
 * Loaded before `caudal listen` in a test: its first request to a local receiver goes to REFUSED_URL, where nothing listens, as if
 * the receiver started later.
 */
const refused = process.env['REFUSED_URL'] ?? '';
const send = globalThis.fetch;
let isFirst = true;

globalThis.fetch = (input, init) => {
  const redirects = isFirst && typeof input === 'string' && input.endsWith('/hook');
  if (redirects) isFirst = false;
  return send(redirects ? refused : input, init);
};
