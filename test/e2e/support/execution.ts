import { parse } from 'flatted';
import { z } from 'zod';

const itemSchema = z
	.object({
		json: z.record(z.unknown()),
		binary: z.record(z.record(z.unknown())).optional(),
	})
	.passthrough();

const errorSchema = z.object({ message: z.string(), description: z.unknown() }).passthrough();

const nodeRunSchema = z
	.object({
		data: z.object({ main: z.array(z.array(itemSchema).nullable()).optional() }).optional(),
		error: errorSchema.optional(),
		hints: z.array(z.object({ message: z.string() })).default([]),
	})
	.passthrough();

const resultSchema = z.object({
	resultData: z.object({
		runData: z.record(z.array(nodeRunSchema)).default({}),
		error: errorSchema.optional(),
	}),
});

/** Everything an execution left behind, by the names of the nodes. */
export class Execution {
	private readonly result: z.infer<typeof resultSchema>['resultData'];

	constructor(
		readonly id: string,
		/** `success`, `error`, `canceled`, `crashed` or `waiting`. */
		readonly status: string,
		storedData: string,
	) {
		this.result = resultSchema.parse(parse(storedData)).resultData;
	}

	/** What stopped the execution, or undefined when it succeeded. */
	get error() {
		return this.result.error;
	}

	get nodes(): string[] {
		return Object.keys(this.result.runData);
	}

	/** Whole items of a node's output, of all its runs; output 0 is the main one, 1 is for errors. */
	items(node: string, output = 0) {
		return this.runsOf(node).flatMap((run) => run.data?.main?.[output] ?? []);
	}

	json(node: string, output = 0): Array<Record<string, unknown>> {
		return this.items(node, output).map((item) => item.json);
	}

	/** What the editor shows above a node's output. */
	hints(node: string): string[] {
		return this.runsOf(node).flatMap(({ hints }) => hints.map(({ message }) => message));
	}

	private runsOf(node: string) {
		const runs = this.result.runData[node];
		if (runs !== undefined) return runs;
		throw new Error(
			`No node "${node}" ran, only: ${this.nodes.join(', ')}. ${this.error?.message ?? ''}`,
		);
	}
}
