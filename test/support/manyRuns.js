/** How often a property is tried in the proofs; the unit tests try a sample. */
process.env.PROPERTY_RUNS ??= '250';
