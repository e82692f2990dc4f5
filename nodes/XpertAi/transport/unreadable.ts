export const isHtml = (text: string): boolean => /^(<!doctype html|<html)/i.test(text.trimStart());

/**
 * Detects an HTML page or invalid JSON, because a schema may accept such text.
 *
 * @param answer the result of `parseAndCleanJson`
 * @param form `text`: `answer` is a text that did not parse as JSON
 * @returns what is wrong, or undefined if the answer can be accepted
 */
export function unreadableReason(answer: unknown, form: 'json' | 'text'): string | undefined {
	if (typeof answer !== 'string' || form === 'json') return undefined;
	if (isHtml(answer)) return 'it is an HTML page, not an answer of this API';
	return /^[[{]/.test(answer.trimStart()) ? 'it breaks off or is not valid JSON' : undefined;
}
