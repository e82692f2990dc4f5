import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import type { N8n } from '../../../host/host';
import { SESSION_COOKIE, type Session } from '../../../host/n8nRestClient';
import { LOOPBACK } from '../../../host/ports';
import { PATIENCE_MS, waitFor } from '../../../host/waitFor';

const CHROMIUM = process.env.CHROMIUM_PATH || '/usr/bin/chromium';
const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-dev-shm-usage',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	// It reaches this machine only. Held back by Playwright's routes, requests would go past the cache.
	`--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${LOOPBACK}`,
];
/** n8n takes what is typed into a parameter when nothing has followed for 200 ms. */
const TYPING_PAUSE_MS = 250;

/** n8n asks whether a node comes with previews of its output; few nodes do. */
const OUTPUT_PREVIEWS = '/schemas/';

/** Pictures are of the editor, not of its passing notifications and tooltips. */
const CALM = `.el-notification, [role="tooltip"], [data-test-id="floating-nodes"],
	[data-reka-popper-content-wrapper]:has([role="tooltip"]) { display: none !important; }`;

export interface Part {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** A browser window in n8n's editor. */
export class EditorWindow {
	/** What went wrong inside the page; empty in a good editor. */
	readonly problems: string[] = [];

	private constructor(
		private readonly browser: Browser,
		/** The page, for anything this class has no method for. */
		readonly page: Page,
		private readonly url: string,
	) {}

	/**
	 * Opens a browser that is logged in to an n8n as its owner. It reaches this machine only.
	 *
	 * @throws when there is no Chromium at `CHROMIUM_PATH` (default: where Debian installs it)
	 */
	static async open(
		{ url, rest }: N8n,
		size = { width: 1440, height: 900 },
	): Promise<EditorWindow> {
		const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
		const page = await browser.newPage({
			viewport: size,
			colorScheme: 'light',
			storageState: loggedIn(url, rest.session),
		});
		page.setDefaultTimeout(PATIENCE_MS);
		const window = new EditorWindow(browser, page, url);
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
		await this.page.locator('[data-test-id="canvas-node"]').first().waitFor();
	}

	node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	async openNode(name: string): Promise<void> {
		// A canvas with many nodes shows them small.
		const { width = 0, height = 0 } = (await this.node(name).boundingBox()) ?? {};
		const position = { x: Math.min(20, width / 2), y: Math.min(20, height / 2) };
		await this.node(name).dblclick({ position });
		await this.page.locator('[data-test-id="ndv"]').waitFor();
	}

	/** Says something in the chat, which stays open from one workflow to the next. */
	async say(text: string): Promise<void> {
		const input = this.page.locator('textarea:visible').last();
		const closed = this.page.getByRole('button', { name: 'Open chat' }).last();
		await closed.or(input).first().waitFor();
		if (await closed.isVisible()) await closed.click();
		await input.fill(text);
		await input.press('Enter');
	}

	/**
	 * Types into a parameter and waits until n8n has taken it, by the clock of the page. An editor of expressions
	 * that is still drawing itself may put the text into the middle of what stood there: then it is typed again.
	 */
	async type(parameter: Locator, text: string): Promise<void> {
		const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));
		const typed = async () => {
			await parameter.fill(text);
			await this.page.evaluate(pause, TYPING_PAUSE_MS);
			return (await textOf(parameter)) === text || undefined;
		};
		await waitFor(`a field with the text "${text}"`, typed);
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

/** What stands in a field, be it an input or an editor of expressions. */
async function textOf(field: Locator): Promise<string> {
	const isEditor = (await field.getAttribute('contenteditable')) === 'true';
	return isEditor ? await field.innerText() : await field.inputValue();
}

/** What a browser holds once somebody has logged in to the n8n at an address. */
function loggedIn(url: string, { browserId, token = '' }: Session) {
	const cookie = { name: SESSION_COOKIE, value: token, domain: LOOPBACK, path: '/', expires: -1 };
	return {
		cookies: [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Lax' as const }],
		origins: [{ origin: url, localStorage: [{ name: 'n8n-browserId', value: browserId }] }],
	};
}
