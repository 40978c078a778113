import type { Option } from './command.ts';

/** Taken by every command of ours, also in front of its name. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  { name: 'json', value: null, summary: 'print one JSON document for programs (one a line for streams)' },
  { name: 'profile', value: 'NAME', summary: 'whose credentials to use; see caudal help login' },
  {
    name: 'api-key',
    value: 'KEY',
    summary: 'instead of a profile; better in CAUDAL_API_KEY, where ps shows it to nobody',
  },
  { name: 'base-url', value: 'URL', summary: 'address of the API that goes with --api-key' },
  { name: 'help', value: null, short: 'h', summary: 'explain the command' },
];
