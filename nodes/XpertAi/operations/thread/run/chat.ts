import { EMPTY_ANSWER, redactIds, isInChat } from '../../../execution/outputFor';
import type { Item } from '../../../execution/item';
import { Citations, passagesIn, Sources, type CitationStyle } from '../../../threads/sources';
import type { Listener } from '../../../threads/runEvents';

/** Separates the texts before and after a tool call. */
const BREAK = '\n\n';

/**
 * Streams an answer to a chat while it is written. In the end the chat shows the item's output, unless that is empty.
 */
export class Chat implements Listener {
	private readonly sources = new Sources();
	private text: Citations;
	/** What is shown of the current text. */
	private shown = '';
	private isEmpty = true;

	private constructor(
		private readonly send: (type: 'begin' | 'item' | 'end', content?: string) => void,
		private readonly style: CitationStyle,
	) {
		this.text = new Citations(this.sources, style);
		send('begin');
	}

	/** The chat of an item; undefined if n8n does not stream, as in the tool of an agent. */
	static of({ context, index }: Item, style: CitationStyle = 'none'): Chat | undefined {
		if (!isInChat(context)) return undefined;
		return new Chat((type, content) => context.sendChunk(type, index, content), style);
	}

	onToolResult(answer: unknown): void {
		this.sources.add(passagesIn(answer));
	}

	onText(piece: string, isNew: boolean): void {
		if (isNew) this.startText();
		this.show(this.text.push(piece));
	}

	/** Shows the rest of the output. */
	complete(output: string): void {
		if (output.trim() === '') this.say(EMPTY_ANSWER);
		else if (output.startsWith(this.shown)) this.show(output.slice(this.shown.length));
		else this.say(output);
	}

	/** Shows a text of the node. */
	say(text: string): void {
		this.startText();
		this.show(redactIds(text));
	}

	end(): void {
		this.send('end');
	}

	private startText(): void {
		this.show(this.text.end());
		this.text = new Citations(this.sources, this.style);
		if (!this.isEmpty) this.send('item', BREAK);
		this.shown = '';
	}

	private show(piece: string): void {
		if (piece === '') return;
		this.isEmpty = false;
		this.shown += piece;
		this.send('item', piece);
	}
}
