/** A deployment never changes its environment. Staging and development use the simulator, production the rails. */
export const ENVIRONMENTS = ['development', 'staging', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
