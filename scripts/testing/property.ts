import * as fc from 'fast-check';

// The gate tests the same values in every run; `.ci/long seeds` sets another seed.
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });

export { fc };
