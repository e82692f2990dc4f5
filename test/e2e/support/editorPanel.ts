import type { Locator } from 'playwright-core';
import { waitFor } from '../../../host/waitFor';
import type { EditorWindow } from './browser';

const COVERED_MS = 5_000;

/** The open panel of a node: its parameters, its output and its credential. */
export class NodePanel {
	constructor(private readonly window: EditorWindow) {}

	/** The middle column, with all parameters. */
	get parameters(): Locator {
		return this.find('node-parameters');
	}

	/** The left column, with the items to work on. */
	get input(): Locator {
		return this.find('ndv-input-panel');
	}

	/** The right column, with the items, hints or error of the last run. */
	get output(): Locator {
		return this.find('output-panel');
	}

	/** The same, once all labels given are among them or it is clear that they will not come. */
	async linesWith(labels: string[]): Promise<string[]> {
		const all = async () => {
			const lines = await this.lines();
			return labels.every((label) => lines.includes(label)) ? lines : undefined;
		};
		const wait = waitFor('the labels', all);
		return await wait.catch(async () => await this.lines());
	}

	/**
	 * The text of the right column, once it matches.
	 *
	 * @throws when it does not, with the text that is there
	 */
	async outputWith(pattern: RegExp): Promise<string> {
		const matching = async () => {
			const text = await this.output.innerText();
			return pattern.test(text) ? text : undefined;
		};
		return await waitFor(`an output with ${pattern}`, matching).catch(async (error: Error) => {
			throw new Error(`${error.message}. It shows:\n${await this.output.innerText()}`);
		});
	}

	/** The lines of text in the middle column, in the order a user reads them. */
	async lines(): Promise<string[]> {
		const text = await this.parameters.innerText();
		return text
			.split('\n')
			.map((line) => line.trim())
			.filter(Boolean);
	}

	/** Opens the list of a picker; returns its entries once there are any. */
	async openList(parameter: string): Promise<Locator> {
		await this.picker(parameter).locator('[data-test-id="rlc-input"]').click();
		const entries = this.find('rlc-item', this.window.page.locator('body'));
		await entries.first().waitFor();
		return entries;
	}

	/** Picks an entry of a list by its name. */
	async pick(parameter: string, name: string): Promise<void> {
		const entries = await this.openList(parameter);
		await entries.filter({ hasText: name }).click();
	}

	async filterList(text: string): Promise<void> {
		const search = this.window.page.locator('[data-test-id="rlc-search"]:visible');
		await search.or(search.locator('input')).last().fill(text);
	}

	/** Sets a picker to By ID and enters an id or an address. */
	async enterId(parameter: string, id: string): Promise<void> {
		const modes = this.picker(parameter).locator('[data-test-id="rlc-mode-selector"]');
		await modes.click();
		await this.window.page.locator('[data-test-id="mode-id"]:visible').click();
		const input = this.picker(parameter).locator('[data-test-id="rlc-input"]');
		await this.window.type(input.or(input.locator('input')).last(), id);
	}

	/** Chooses an option of a dropdown by its name. */
	async choose(parameter: string, name: string): Promise<void> {
		const field = this.find(`parameter-input-${parameter}`).locator('input').first();
		try {
			await field.click({ timeout: COVERED_MS });
		} catch {
			// What an expression above comes to may lie over it, until a click beside it.
			await this.output.click({ position: { x: 5, y: 5 } });
			await field.click();
		}
		const options = this.window.page.locator('[role="option"]:visible, li:visible');
		await options.filter({ hasText: name }).first().click();
	}

	/** Enters a text into a plain parameter, also where an expression stands in it. */
	async fill(parameter: string, text: string): Promise<void> {
		const field = this.find(`parameter-input-${parameter}`);
		await this.window.type(
			field.locator('textarea, input, [contenteditable="true"]').first(),
			text,
		);
	}

	/** Clicks "Fetch Test Event" of a trigger. */
	async fetchTestEvent(): Promise<void> {
		const button = this.find('trigger-execute-button').or(this.find('node-execute-button'));
		await button.first().click();
	}

	/** Clicks "Execute step" and waits for items or an error. */
	async run(): Promise<void> {
		await this.find('node-execute-button').click();
		await this.output
			.locator('[data-test-id="ndv-items-count"], [data-test-id="node-error-message"]')
			.or(this.output.getByText(/\d+ items?\b/))
			.first()
			.waitFor();
	}

	/** Shows the output, or the input, as a table, JSON or schema. */
	async showAs(mode: 'table' | 'json' | 'schema', column = this.output): Promise<void> {
		// It shows only under the mouse, of which a busy editor takes no notice: so it is told of the click itself.
		const choice = column.locator(`[data-test-id="radio-button-${mode}"]`);
		await choice.dispatchEvent('click');
		await choice.and(column.locator('[aria-checked="true"]')).waitFor({ state: 'attached' });
	}

	/** Closes the panel; does nothing when it is closed. */
	async close(): Promise<void> {
		const button = this.find('ndv-close-button');
		if (await button.isVisible()) await button.click();
		await this.window.page.locator('[data-test-id="ndv"]').waitFor({ state: 'hidden' });
	}

	find(testId: string, within: Locator = this.window.page.locator('[data-test-id="ndv"]')) {
		return this.window.find(testId, within);
	}

	private picker(parameter: string): Locator {
		return this.find(`resource-locator-${parameter}`);
	}
}
