import type { Locator } from 'playwright-core';
import { waitFor } from '../../../host/waitFor';
import type { EditorWindow } from './browser';

/** How long the dialog takes to open. */
const OPENS_MS = 5_000;

export class CredentialDialog {
	constructor(private readonly window: EditorWindow) {}

	private get dialog(): Locator {
		return this.window.page.locator('[data-test-id="credential-edit-dialog"]');
	}

	/** From a node's panel: opens the form of a new credential; anew where the list closes itself while it is filled. */
	async create(): Promise<void> {
		const { page } = this.window;
		const entry = page.locator('[data-test-id="node-credentials-select-item-new"]:visible');
		const opened = async () => {
			await this.window.find('node-credentials-select').or(this.emptyState).first().click();
			await entry.or(this.dialog).first().waitFor();
			if (await entry.isVisible()) await entry.click({ timeout: OPENS_MS });
			await this.dialog.waitFor({ timeout: OPENS_MS });
			return true;
		};
		await waitFor('the dialog', async () => await opened().catch(() => undefined));
	}

	/** From a node's panel: opens the credential that is chosen, which tests it. */
	async edit(): Promise<void> {
		await this.window.find('credential-edit-button').click();
		await this.dialog.waitFor();
	}

	async enter(field: string, text: string): Promise<void> {
		const input = this.window.find(`parameter-input-${field}`, this.dialog).locator('input');
		await this.window.type(input, text);
	}

	/** Saves, which runs the test. */
	async save(): Promise<void> {
		await this.window.find('credential-save-button').click();
	}

	/** Waits until the dialog says why the test did not pass, in these words. */
	async seesReason(reason: string): Promise<void> {
		const more = this.dialog.getByText('More details');
		const text = this.dialog.getByText(reason, { exact: true });
		await more.or(text).first().waitFor();
		if (await more.isVisible()) await more.click();
		await text.waitFor();
	}

	/** Waits until the dialog says that the test has passed. */
	async seesSuccess(): Promise<void> {
		await this.dialog.getByText('Connection tested successfully').waitFor();
	}

	/** Waits until the dialog has closed itself, as it does after a save whose test has passed. */
	async isClosed(): Promise<void> {
		await this.dialog.waitFor({ state: 'hidden' });
	}

	async isOpen(): Promise<boolean> {
		return await this.dialog.isVisible();
	}

	async close(): Promise<void> {
		await this.window.page.locator('.el-dialog__headerbtn:visible').last().click();
		await this.isClosed();
	}

	private get emptyState(): Locator {
		return this.window.find('node-credentials-empty-state').getByRole('button');
	}
}
