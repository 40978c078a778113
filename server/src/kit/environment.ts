/** A deployment is one of these for ever. Staging and development talk to the simulator, production to the rails. */
export const ENVIRONMENTS = ['development', 'staging', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
