/** Matches a variable or function of n8n expressions. Other `{{ }}` templates, e.g. Jinja, rarely contain these. */
const VARIABLE_PATTERN =
	/\$(?:\(|(?:json|binary|input|node|items?|from(?:AI|ai)|now|today|workflow|execution(?:Id)?|vars|env|secrets|(?:item|run)Index|prevNode|parameter|data|nodeVersion|jmespath|if|ifEmpty|max|min|agentInfo|getPairedItem)\b)/;

/** Matches an n8n expression without braces, such as `$json.text`. */
const BARE_EXPRESSION_PATTERN =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

/** Whether a Fixed parameter contains an expression. n8n does not resolve expressions in Fixed parameters. */
export const isExpressionInFixed = (part: unknown): boolean =>
	typeof part === 'string' &&
	!part.startsWith('=') &&
	(BARE_EXPRESSION_PATTERN.test(part.trim()) ||
		part.match(BRACED_PATTERN)?.some((code) => VARIABLE_PATTERN.test(code)) === true);

/** Matches double braces with their content. The content excludes `{{`, so that matching takes linear time. */
const BRACED_PATTERN = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;
