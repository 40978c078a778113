/** A metric of one process, summed over its labels. @throws when the process does not export it */
export async function readMetric(process: { readonly opsUrl: string }, name: string): Promise<number> {
  const text = await (await fetch(`${process.opsUrl}/metrics`)).text();
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  if (values.length === 0) throw new Error(`no metric ${name}`);
  return values.reduce((sum, value) => sum + value, 0);
}
