/** How large what is remembered may be in one document of the server; proxies take 1 MiB in one request. */
export const SIZES = {
	/** Documents in a piece, on an average: 59 KB of text. */
	piece: 2000,
	/** The part of a piece, as a divisor, that may have changed before it is written anew. */
	changes: 8,
	/** Bytes of a page of a journal, after which the next one is begun: it is written anew with each batch until then. */
	page: 3 * 1024,
	/** Characters of names in one note, before they are made smaller. */
	names: 128 * 1024,
	/** Characters of notes in one request, where there are several. */
	request: 512 * 1024,
	/** Pieces in one answer. */
	answer: 8,
	/** Pages of a journal in one answer. */
	pages: 32,
};
