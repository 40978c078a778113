// The health check of the image, without curl: exits with 0 when the path on the ops port responds 200.
const [path = '/livez'] = process.argv.slice(2);
const port = process.env.CAUDAL_OPS_PORT || '9090';

try {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4000) });
  console.log(`${path}: ${response.status} ${await response.text()}`);
  process.exitCode = response.status === 200 ? 0 : 1;
} catch (error) {
  console.log(`${path}: ${error.cause?.code ?? error.message}`);
  process.exitCode = 1;
}
