import { EMPTY_ANSWER, redactIds, isInChat } from '../../../execution/audience';
import type { Item } from '../../../execution/item';
import { Citations, CitationStream, passagesIn, Sources } from '../../../threads/sources';
import type { CitationStyle } from '../../../threads/sources';
import type { Listener } from '../../../threads/runEvents';

/** Between what is said before a call of a tool, or before the end, and what is said after it. */
const BREAK = '\n\n';

/** The chat that shows an item's answer while it is written. What it shows ends as the item's output does, if that has words. */
export class Chat implements Listener {
	private readonly sources = new Sources();
	private pieces: CitationStream;
	/** What it shows of what the assistant is saying. */
	private shown = '';
	private isEmpty = true;

	private constructor(
		private readonly send: (type: 'begin' | 'item' | 'end', content?: string) => void,
		private readonly style: CitationStyle,
	) {
		this.pieces = this.fresh();
		send('begin');
	}

	/** The chat of an item; none where n8n shows nothing while a node works, as with the tool of an agent. */
	static of({ context, index }: Item, style: CitationStyle = 'none'): Chat | undefined {
		if (!isInChat(context)) return undefined;
		return new Chat((type, content) => context.sendChunk(type, index, content), style);
	}

	onToolResult(answer: unknown): void {
		this.sources.add(passagesIn(answer));
	}

	onText(piece: string, isNew: boolean): void {
		if (isNew) this.startAnew();
		this.show(this.pieces.push(piece));
	}

	/** The item has its output: shows what of it was not shown yet. */
	complete(output: string): void {
		if (output.trim() === '') this.note(EMPTY_ANSWER);
		else if (output.startsWith(this.shown)) this.show(output.slice(this.shown.length));
		else this.note(output);
	}

	/** Says something that the assistant has not said. */
	note(words: string): void {
		this.startAnew();
		this.show(redactIds(words));
	}

	end(): void {
		this.send('end');
	}

	private startAnew(): void {
		this.show(this.pieces.end());
		this.pieces = this.fresh();
		if (!this.isEmpty) this.send('item', BREAK);
		this.shown = '';
	}

	private show(piece: string): void {
		if (piece === '') return;
		this.isEmpty = false;
		this.shown += piece;
		this.send('item', piece);
	}

	private fresh(): CitationStream {
		return new CitationStream(new Citations(this.sources, this.style));
	}
}
