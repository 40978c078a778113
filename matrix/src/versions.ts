/** Exact versions, so that a release of a tool never breaks a build. Update them together with the dependencies. */
export const VERSIONS = {
  node20: '20.18.0',
  node22: '22.23.3',
  bun: '1.4.4',
  deno: '2.9.6',
  workerd: '1.20261104.1',
  jest29: '29.7.0',
  jest30: '30.5.2',
  tsJest: '29.4.15',
  vitest: '5.1.0',
  typescript5: '5.9.3',
  typescript7: '7.0.2',
  typesNode: '24.19.2',
  esbuild: '0.28.2',
  express: '5.3.0',
  fastify: '5.12.8',
  nest: '12.4.2',
} as const;
