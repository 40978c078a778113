/** Loaded into a server process by the proof: the process reports another version. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { readFileSync } = fs;
fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
  const text = readFileSync(...args);
  return String(args[0]).endsWith('/server/package.json')
    ? String(text).replace(/"version": "[^"]+"/, '"version": "9.9.9"')
    : text;
}) as typeof readFileSync;
syncBuiltinESMExports();
