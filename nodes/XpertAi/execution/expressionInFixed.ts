/** Matches a variable or function of n8n expressions. Other `{{ }}` templates, e.g. Jinja, rarely contain these. */
const VARIABLE =
	/\$(?:\(|(?:json|binary|input|node|items?|from(?:AI|ai)|now|today|workflow|execution(?:Id)?|vars|env|secrets|(?:item|run)Index|prevNode|parameter|data|nodeVersion|jmespath|if|ifEmpty|max|min|agentInfo|getPairedItem)\b)/;

/** Matches an n8n expression without braces, such as `$json.text`. */
const WITHOUT_BRACES =
	/^\$(?:(?:json|binary|input)[.[]|\((['"`])[^'"`]*\1\)\.(?:item|first|last|all)\b)\S*$/;

/** Whether a Fixed parameter contains an expression. n8n does not resolve expressions in Fixed parameters. */
export const isExpressionInFixed = (part: unknown): boolean =>
	typeof part === 'string' &&
	!part.startsWith('=') &&
	(WITHOUT_BRACES.test(part.trim()) ||
		part.match(BRACED)?.some((code) => VARIABLE.test(code)) === true);

/** Matches double braces with their content. The content excludes `{{`, so that matching takes linear time. */
const BRACED = /\{\{((?:(?!\{\{)[^])*?)\}\}/g;
