/** n8n says so of each change that it makes to its database: some hundred on a first start. */
const DATABASE_CHANGED = /^Finished migration /gm;

/** How far a start of n8n has come, by what stands in its log. */
export function startingLine(log: string, seconds: number): string {
	const changes = log.match(DATABASE_CHANGED)?.length ?? 0;
	const doing =
		changes === 0 ? 'n8n is loading' : `n8n sets its database up, ${changes} steps done`;
	return `  ${doing}, ${seconds} s`;
}
