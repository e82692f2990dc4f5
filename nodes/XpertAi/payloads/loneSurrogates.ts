/** Whether a text contains a lone surrogate, e.g. half of an emoji. UTF-8 cannot encode a lone surrogate. */
export const hasLoneSurrogate = (text: string) => !text.isWellFormed();

export const LONE_SURROGATE_ISSUE =
	'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';
