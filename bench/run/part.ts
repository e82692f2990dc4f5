/** What was measured once: numbers, or a curve. */
export type Figures = Record<string, number | number[]>;

/** Something that is measured, once a round. */
export interface Entry {
	name: string;
	/** About how long it takes on a quiet machine, for the progress. */
	seconds: number;
	/** Measured in the first rounds only, if it is not measured in all. */
	rounds?: number;
	measure: () => Promise<Figures>;
	/** The figures in a few words, for the progress. */
	say: (figures: Figures) => string;
}

/** What is to be measured of a part. */
export interface Plan {
	/** Sizes the page speaks of. */
	sizes: Record<string, number>;
	rounds: number;
	entries: Entry[];
	/** Whether its rounds follow each other; otherwise those of all parts are interleaved. */
	together?: boolean;
	/** Made ready once, before anything is measured. */
	prepare?: () => Promise<void>;
	/** Called when the part is over, also when it failed. */
	close?: () => Promise<void>;
}

/** What is known of a part once it was measured; this is what is kept in a file. */
export interface PartResults {
	measuredAt: string;
	sizes: Record<string, number>;
	/** Why it was left out, or broke off. */
	missing?: string;
	/** By the names of the entries: one a round. */
	entries: Record<string, Figures[]>;
}

/** A row of the table of aims. */
export interface Aim {
	what: string;
	against: string;
	aim: string;
	measured: string;
	/** Missing when it was not measured. */
	met?: boolean;
}

/** What the page says of a part. */
export interface Section {
	aims: Aim[];
	/** Markdown. */
	text: string;
}

/** A part of the benchmark. */
export interface Part {
	/** As `--only` takes it. */
	name: string;
	title: string;
	/** The aims of the part, in words, for the time it is not measured. */
	aims: Array<Pick<Aim, 'what' | 'against' | 'aim'>>;
	/** Why it cannot be measured here. */
	unavailable?: () => string | undefined;
	plan: (options: { quick: boolean }) => Plan;
	report: (results: PartResults) => Section;
}
