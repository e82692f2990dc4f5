/** How often a property is tried: a sample by the unit tests, more in the proofs (`manyRuns.js`), most at night. */
export const PROPERTY_RUNS = Number(process.env.PROPERTY_RUNS ?? 20);

/** Whether this is the nightly run, which tries all that a change tries a sample of. */
export const IS_NIGHTLY = PROPERTY_RUNS >= 1000;
