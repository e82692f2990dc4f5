/**
 * How often a property is tried: a sample with the unit tests, many times that in the proofs (`manyRuns.js`) and at
 * night, least of all for each mutant.
 */
export const PROPERTY_RUNS = Number(process.env.PROPERTY_RUNS ?? 80);
