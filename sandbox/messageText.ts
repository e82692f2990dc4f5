import type { Message } from './entities';

/** The text of a message, also of one in parts. */
export const textIn = ({ content }: Pick<Message, 'content'>): string =>
	typeof content === 'string' ? content : content.map(({ text }) => String(text ?? '')).join('');
