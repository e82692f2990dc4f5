import { Expression } from 'n8n-workflow';

/** Collects the expressions that n8n evaluates from now on, until jest restores its mocks. */
export function watchEvaluations(): string[] {
	const evaluated: string[] = [];
	const resolve = Expression.prototype.resolveSimpleParameterValue;
	jest.spyOn(Expression.prototype, 'resolveSimpleParameterValue').mockImplementation(function (
		this: Expression,
		...given
	) {
		const [expression] = given;
		if (typeof expression === 'string' && expression.startsWith('=')) evaluated.push(expression);
		return resolve.apply(this, given);
	});
	return evaluated;
}
