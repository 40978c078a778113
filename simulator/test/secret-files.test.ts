import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { cleanUp, temporaryDirectory } from './harness.ts';

afterAll(cleanUp);

async function fileWith(text: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'secret');
  await writeFile(file, text);
  return file;
}

describe('a secret of the simulator', () => {
  it('is read from a file, without the newline at its end', async () => {
    const env = { SIM_PSE_SECRET_FILE: await fileWith('from-a-file\n') };
    expect(readConfig([], env).pse.secret).toBe('from-a-file');
  });

  it('is rejected when its file is empty or missing, or the value is set too', async () => {
    const rejected = (env: NodeJS.ProcessEnv) =>
      expect(() => readConfig([], env)).toThrow(/SIM_PSE_SECRET_FILE/);
    rejected({ SIM_PSE_SECRET_FILE: await fileWith('\n') });
    rejected({ SIM_PSE_SECRET_FILE: '/missing' });
    rejected({ SIM_PSE_SECRET_FILE: await fileWith('x'), SIM_PSE_SECRET: 'x' });
  });
});
