import type { Item } from '../../../execution/item';
import { isInStreamingChat } from '../../../execution/n8nExecution';
import { CitationRewriter, type CitationStyle } from '../../../threads/citations';
import type { Listener } from '../../../threads/runTranscript';
import type { AnswerPart } from '../../../threads/runEventSchemas';
import { passagesIn, Sources } from '../../../threads/sources';
import { EMPTY_ANSWER_TEXT } from './answerOutput';

/** Separates the texts of an answer, e.g. before and after a tool call. */
const PARAGRAPH_BREAK = '\n\n';

/** Shows an answer in a streaming chat, in pieces or as a whole. */
export class ChatStream implements Listener {
	private readonly sources = new Sources();
	/** Rewrites the links of the current text. */
	private text: CitationRewriter;
	/** What the chat already shows of the current text. */
	private shown = '';
	/** Whether the chat shows no text at all yet. */
	private isEmpty = true;

	private constructor(
		private readonly send: (type: 'begin' | 'item' | 'end', content?: string) => void,
		private readonly style: CitationStyle,
	) {
		this.text = new CitationRewriter(this.sources, style);
		send('begin');
	}

	/** Begins the chat of an item. The caller must call `end`. Returns undefined if n8n does not stream. */
	static begin({ context, index }: Item, style: CitationStyle = 'none'): ChatStream | undefined {
		if (!isInStreamingChat(context)) return undefined;
		return new ChatStream((type, content) => context.sendChunk(type, index, content), style);
	}

	onToolResult(answer: unknown) {
		this.sources.add(passagesIn(answer));
	}

	onResumed(parts: AnswerPart[]) {
		this.sources.addParts(parts);
	}

	onText(piece: string, isNew: boolean) {
		if (isNew) this.startText();
		this.show(this.text.push(piece));
	}

	/**
	 * Shows the part of the output that the chat does not show yet. If the output does not begin with the shown text,
	 * shows the whole output as a new paragraph. For an empty output, shows `EMPTY_ANSWER_TEXT`.
	 */
	showRemaining(output: string) {
		if (output.trim() === '') this.say(EMPTY_ANSWER_TEXT);
		else if (output.startsWith(this.shown)) this.show(output.slice(this.shown.length));
		else this.say(output);
	}

	/** Shows a text as a new paragraph. */
	say(text: string) {
		this.startText();
		this.show(text);
	}

	end() {
		this.send('end');
	}

	/** Ends the current text, and starts a new paragraph. */
	private startText() {
		this.show(this.text.end());
		this.text = new CitationRewriter(this.sources, this.style);
		if (!this.isEmpty) this.send('item', PARAGRAPH_BREAK);
		this.shown = '';
	}

	private show(piece: string) {
		if (piece === '') return;
		this.isEmpty = false;
		this.shown += piece;
		this.send('item', piece);
	}
}
