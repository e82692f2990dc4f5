import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import type { Host } from '../../../host/host';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-dev-shm-usage',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];
const PATIENCE_MS = 15_000;
const LOADING_MS = 60_000;
const LOOPBACK = '127.0.0.1';

/** n8n asks whether a node comes with previews of its output; few nodes do. */
const OUTPUT_PREVIEWS = '/schemas/';

/** Pictures are of the editor, not of its passing notifications and tooltips. */
const CALM = `.el-notification, [role="tooltip"], [data-test-id="floating-nodes"],
	[data-reka-popper-content-wrapper]:has([role="tooltip"]) { display: none !important; }`;

/** A part of the window, in pixels. */
export interface Part {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** A browser window in n8n's editor. */
export class EditorWindow {
	/** What went wrong inside the page since it was logged in; empty in a good editor. */
	readonly problems: string[] = [];

	private constructor(
		private readonly browser: Browser,
		/** The page, for anything this class has no method for. */
		readonly page: Page,
		private readonly url: string,
	) {}

	/**
	 * Opens a browser that is logged in to a host as its owner. It reaches this machine only.
	 *
	 * @throws when there is no Chromium at `CHROMIUM_PATH` (default: where Debian installs it)
	 */
	static async open(host: Host, size = { width: 1440, height: 900 }): Promise<EditorWindow> {
		const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
		const page = await browser.newPage({ viewport: size, colorScheme: 'light' });
		page.setDefaultTimeout(PATIENCE_MS);
		page.setDefaultNavigationTimeout(LOADING_MS);
		await page.route(
			({ hostname }) => hostname !== LOOPBACK,
			async (route) => await route.abort(),
		);
		await page.goto(`${host.url}/signin`);
		await page.fill('input[name="emailOrLdapLoginId"]', host.login.email);
		await page.fill('input[name="password"]', host.login.password);
		await page.click('[data-test-id="form-submit-button"]');
		await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
		const window = new EditorWindow(browser, page, host.url);
		window.listen();
		return window;
	}

	/** Whatever carries one of n8n's own test ids and can be seen. */
	find(testId: string, within: Page | Locator = this.page): Locator {
		return within.locator(`[data-test-id="${testId}"]:visible`);
	}

	/** Opens a workflow on the canvas and waits until its nodes are drawn. */
	async openWorkflow(id: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`, { waitUntil: 'commit' });
		await this.page
			.locator('[data-test-id="canvas-node"]')
			.first()
			.waitFor({ timeout: LOADING_MS });
	}

	/** A node on the canvas. */
	node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	/** Opens the panel of a node on the canvas. */
	async openNode(name: string): Promise<void> {
		await this.node(name).dblclick({ position: { x: 20, y: 20 } });
		await this.page.locator('[data-test-id="ndv"]').waitFor();
	}

	/** Writes what the window shows, or a part of it, to a PNG file, once it has come to rest. */
	async screenshot(path: string, clip?: Part): Promise<void> {
		await this.page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => undefined);
		await this.page.screenshot({ path, clip, style: CALM, animations: 'disabled' });
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	/** Collects what the page complains about; requests to the world outside are stopped on purpose. */
	private listen(): void {
		this.page.on('pageerror', ({ message }) => this.problems.push(`Exception: ${message}`));
		this.page.on('console', (message) => {
			const { url } = message.location();
			const isOurs = url === '' || url.startsWith(this.url);
			if (url.startsWith(`${this.url}${OUTPUT_PREVIEWS}`)) return;
			if (message.type() === 'error' && isOurs) {
				this.problems.push(`Console: ${message.text()} (${url})`);
			}
		});
	}
}
