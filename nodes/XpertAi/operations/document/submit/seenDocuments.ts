/** Number of 32-bit words in an ID. */
const WORDS_PER_ID = 4;

type IdWords = ArrayLike<number> & Iterable<number>;

/** The value of a slot without a document. */
const EMPTY_SLOT = 0;

/** An odd number with well distributed bits, to mix the words of an ID. */
const HASH_MULTIPLIER = 0x9e3779b1;

/**
 * The documents that a run has seen, each with a state. A hash table in typed arrays, because a million objects or
 * strings would fill the heap of n8n. A slot takes 17 bytes. After the table has grown, 3 of 8 slots are in use.
 */
export class SeenDocuments<State extends string> {
	/** Number of documents. */
	size = 0;
	/** The ID in each slot, as four words of 32 bits. */
	private ids = new Uint32Array(16 * WORDS_PER_ID);
	/** For each slot, the position of its state in `states`, counted from 1; or `EMPTY_SLOT`. */
	private slots = new Uint8Array(16);

	constructor(private readonly states: readonly State[]) {}

	/** @param id a UUID, in upper or lower case */
	has(id: string): boolean {
		return this.get(id) !== undefined;
	}

	/** Returns the state of a document; `undefined` if the run has not seen the document. */
	get(id: string): State | undefined {
		const slot = this.slotOf(wordsOf(id));
		return this.states[(this.slots[slot] ?? EMPTY_SLOT) - 1];
	}

	/** Adds a document, or replaces its state. */
	set(id: string, state: State): void {
		const words = wordsOf(id);
		const slot = this.slotOf(words);
		const isNew = this.slots[slot] === EMPTY_SLOT;
		this.ids.set(words, slot * WORDS_PER_ID);
		this.slots[slot] = this.states.indexOf(state) + 1;
		if (!isNew) return;
		this.size += 1;
		const isAlmostFull = this.size > this.slots.length * 0.75;
		if (isAlmostFull) this.grow();
	}

	/** Doubles the number of slots, and moves each document to its new slot. */
	private grow(): void {
		const { ids, slots } = this;
		this.ids = new Uint32Array(2 * ids.length);
		this.slots = new Uint8Array(2 * slots.length);
		for (const [oldSlot, state] of slots.entries()) {
			if (state === EMPTY_SLOT) continue;
			const words = ids.subarray(oldSlot * WORDS_PER_ID, (oldSlot + 1) * WORDS_PER_ID);
			const slot = this.slotOf(words);
			this.ids.set(words, slot * WORDS_PER_ID);
			this.slots[slot] = state;
		}
	}

	/** Finds the slot of an ID, or else the empty slot where it belongs. The number of slots is a power of two. */
	private slotOf(words: IdWords): number {
		const lastSlot = this.slots.length - 1;
		let slot = slotHash(words) & lastSlot;
		while (this.slots[slot] !== EMPTY_SLOT && !this.isAt(slot, words)) slot = (slot + 1) & lastSlot;
		return slot;
	}

	/** Whether a slot contains this ID. */
	private isAt(slot: number, words: IdWords): boolean {
		for (let at = 0; at < WORDS_PER_ID; at++)
			if (this.ids[slot * WORDS_PER_ID + at] !== words[at]) return false;
		return true;
	}
}

/** Returns a hash of an ID with well distributed bits, to choose its slot. */
function slotHash(words: IdWords): number {
	let mixed = 0;
	for (const word of words) mixed = Math.imul((mixed ^ word) >>> 0, HASH_MULTIPLIER);
	return mixed ^ (mixed >>> 16);
}

/** Converts a UUID to four words of 32 bits. */
function wordsOf(id: string): number[] {
	const hex = id.replaceAll('-', '');
	return [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
}
