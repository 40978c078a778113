import type { OptionDescription } from '@caudal/command-tree';

export const HELP_OPTION: OptionDescription = {
  name: 'help',
  value: null,
  summary: 'show help for the command',
};

export const VERSION_OPTION: OptionDescription = {
  name: 'version',
  value: null,
  summary: 'print the version of the command line',
};

/** Accepted by every command of the CLI, before or after its name. */
export const GLOBAL_OPTIONS: readonly OptionDescription[] = [
  { name: 'json', value: null, summary: 'print JSON: one document, or one per line for streams' },
  { name: 'profile', value: 'NAME', summary: 'profile to use; see caudal help login' },
  {
    name: 'api-key',
    value: 'KEY',
    summary: 'API key instead of a profile; prefer CAUDAL_API_KEY, which ps does not show',
  },
  { name: 'base-url', value: 'URL', summary: 'base URL of the API, with --api-key' },
  HELP_OPTION,
  VERSION_OPTION,
];
