import { chromium, type Browser, type Page } from 'playwright-core';
import type { Host } from '../../../host/host';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** A browser window in n8n's editor. */
export class EditorWindow {
	private constructor(
		private readonly browser: Browser,
		/** The page, for anything this class has no method for. */
		readonly page: Page,
		private readonly url: string,
	) {}

	/**
	 * Opens a browser that is logged in to a host as its owner.
	 *
	 * @throws when there is no Chromium at `CHROMIUM_PATH` (default: where Debian installs it)
	 */
	static async open(host: Host, size = { width: 1440, height: 900 }): Promise<EditorWindow> {
		const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
		const page = await browser.newPage({ viewport: size });
		await page.goto(`${host.url}/signin`);
		await page.fill('input[name="emailOrLdapLoginId"]', host.login.email);
		await page.fill('input[name="password"]', host.login.password);
		await page.click('[data-test-id="form-submit-button"]');
		await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
		return new EditorWindow(browser, page, host.url);
	}

	/** Opens a workflow on the canvas and waits until its nodes are drawn. */
	async openWorkflow(id: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`);
		await this.page.locator('[data-test-id="canvas-node"]').first().waitFor();
	}

	/** Opens the panel of a node on the canvas. */
	async openNode(name: string): Promise<void> {
		await this.page
			.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`)
			.dblclick({ position: { x: 20, y: 20 } });
		await this.page.locator('[data-test-id="ndv"]').waitFor();
	}

	/** Writes what the window shows to a PNG file, once it has come to rest. */
	async screenshot(path: string): Promise<void> {
		await this.page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined);
		await this.page.screenshot({ path });
	}

	async close(): Promise<void> {
		await this.browser.close();
	}
}
