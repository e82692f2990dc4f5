/** What a piece of work has sent. */
export interface Sent {
	requests: number;
	bytes: number;
}

/** Work of a size, made ready outside the time that is measured. */
export type Growing = (size: number) => () => Promise<Sent>;
