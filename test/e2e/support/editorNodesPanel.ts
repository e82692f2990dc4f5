import type { Locator } from 'playwright-core';
import type { EditorWindow } from './browser';

export class NodesPanel {
	constructor(private readonly window: EditorWindow) {}

	async open(): Promise<void> {
		await this.window.find('node-creator-plus-button').click();
		await this.window.find('node-creator-search-bar').waitFor();
	}

	/** Opens it by the plus of a node for what it is to be given, such as the tools of an agent. */
	async openFor(node: string, what: string): Promise<void> {
		const handle = this.window.node(node).locator(`[data-test-id="canvas-node-input-handle"]`);
		const plus = handle.filter({ hasText: what }).locator('[data-test-id="canvas-handle-plus"]');
		await plus.first().click();
		await this.window.find('node-creator-search-bar').waitFor();
	}

	/** The names of the nodes found for what a user types, best first. */
	async search(words: string): Promise<string[]> {
		const field = this.window.find('node-creator-search-bar');
		// The list follows the typing with a delay: emptied first, it cannot show an earlier search.
		await field.fill('nothing is called like this');
		await this.names.first().waitFor({ state: 'hidden' });
		await field.fill(words);
		await this.names.first().waitFor();
		return await this.names.allInnerTexts();
	}

	/** The entries once a node is among them: n8n fills the list bit by bit. */
	async entriesWith(node: string): Promise<string[]> {
		await this.names.filter({ hasText: node }).first().waitFor();
		return await this.names.allInnerTexts();
	}

	/** Opens the actions of a node. */
	async openActions(node: string): Promise<void> {
		const entry = this.names.filter({ hasText: node });
		await entry.first().click();
		await entry.first().waitFor({ state: 'hidden' });
		await this.names.first().waitFor();
	}

	/** The names of the entries once there are `count`, or as they are if there never are: n8n fills the list bit by bit. */
	async entries(count: number): Promise<string[]> {
		const last = this.names.nth(count - 1);
		await last.waitFor({ state: 'attached' }).catch(() => undefined);
		return await this.names.allInnerTexts();
	}

	private get names(): Locator {
		return this.window.find('node-creator-item-name');
	}

	/** Adds the node set to an action, which opens its panel. */
	async pick(action: string): Promise<void> {
		await this.names.filter({ hasText: action }).first().click();
		await this.window.find('ndv').waitFor();
	}
}
