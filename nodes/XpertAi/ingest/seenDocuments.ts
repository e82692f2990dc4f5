const ID_WORDS = 4;

/** An odd number with well distributed bits, to mix the words of an ID. */
const MIX = 0x9e3779b1;

/**
 * The documents that a run has seen, each with a state. They lie in typed arrays, because a million objects or texts
 * would fill the heap of n8n. A document takes 17 bytes, and at most half of the room is empty after it has grown.
 */
export class SeenDocuments<State extends string> {
	/** Number of documents. */
	size = 0;
	/** The ID in each slot, as four words of 32 bits. */
	private ids = new Uint32Array(16 * ID_WORDS);
	/** The state in each slot: its position in `states`, counted from 1. 0 means that the slot is empty. */
	private slots = new Uint8Array(16);

	constructor(private readonly states: readonly State[]) {}

	/** @param id a UUID, in upper or lower case */
	has(id: string): boolean {
		return this.get(id) !== undefined;
	}

	/** Returns the state of a document, or undefined if the run has not seen it. */
	get(id: string): State | undefined {
		return this.states[(this.slots[this.slotOf(wordsOf(id))] ?? 0) - 1];
	}

	set(id: string, state: State): void {
		const words = wordsOf(id);
		const slot = this.slotOf(words);
		const isNew = this.slots[slot] === 0;
		this.ids.set(words, slot * ID_WORDS);
		this.slots[slot] = this.states.indexOf(state) + 1;
		if (!isNew) return;
		this.size += 1;
		if (this.size * 4 > this.slots.length * 3) this.grow();
	}

	private grow(): void {
		const { ids, slots } = this;
		this.ids = new Uint32Array(2 * ids.length);
		this.slots = new Uint8Array(2 * slots.length);
		for (const [at, state] of slots.entries()) {
			if (state === 0) continue;
			const words = ids.subarray(at * ID_WORDS, (at + 1) * ID_WORDS);
			const slot = this.slotOf(words);
			this.ids.set(words, slot * ID_WORDS);
			this.slots[slot] = state;
		}
	}

	/** Finds the slot of an ID, or else the empty slot where it belongs. The number of slots is a power of two. */
	private slotOf(words: ArrayLike<number> & Iterable<number>): number {
		const { ids, slots } = this;
		let mixed = 0;
		for (const word of words) mixed = Math.imul((mixed ^ word) >>> 0, MIX);
		const last = slots.length - 1;
		const isOther = (slot: number) => {
			for (let at = 0; at < ID_WORDS; at++)
				if (ids[slot * ID_WORDS + at] !== words[at]) return slots[slot] !== 0;
			return false;
		};
		let slot = (mixed ^ (mixed >>> 16)) & last;
		while (isOther(slot)) slot = (slot + 1) & last;
		return slot;
	}
}

/** Converts a UUID to four words of 32 bits. */
function wordsOf(id: string): number[] {
	const hex = id.replaceAll('-', '');
	return [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
}
