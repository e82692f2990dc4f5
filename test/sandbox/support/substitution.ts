import { isPlainObject, sortBy } from 'lodash';
import { OWNER } from '../../../sandbox/entities';

/** What the server makes up anew each time: ids, also those of events, and the names under which it keeps files. */
const MADE_UP =
	/^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|chatcmpl-[\w-]+|call_\w+|(?:Agent|Knowledge)_\w+|\d{13}-\d+|.*\/files-\d+-[0-9a-f]+(?:\.\w+)?)$/;

/** Whose files most of the recordings name, and whose conversations some of them make. */
const RECORDED_TENANT = 'b3c331fa-a335-4479-8b29-34fadc619fa8';
const RECORDED_PERSON = '4647f122-fc5a-4053-aba3-5b79526a6253';

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * What the sandbox has in the place of what was recorded. Whatever the server made up is learned from its
 * answers, where it first stands; from then on it must be the same everywhere.
 */
export class Substitution {
	private readonly known = new Map<string, string>();

	constructor(baseUrl: string) {
		this.known.set('{base_url}', baseUrl);
		this.known.set(RECORDED_TENANT, OWNER.tenantId);
		this.known.set(RECORDED_PERSON, OWNER.userId);
	}

	/** Walks a recorded answer and the sandbox's in parallel. */
	learn(recorded: unknown, actual: unknown): void {
		if (Array.isArray(recorded) && Array.isArray(actual)) {
			recorded.forEach((element, index) => this.learn(element, actual[index]));
		} else if (isPlainObject(recorded) && isPlainObject(actual)) {
			for (const [key, value] of Object.entries(recorded as object)) {
				this.learn(value, (actual as Record<string, unknown>)[key]);
			}
		} else if (typeof recorded === 'string' && typeof actual === 'string') {
			if (!MADE_UP.test(recorded)) this.learnWithin(recorded, actual);
			else if (!this.known.has(recorded)) this.known.set(recorded, actual);
		}
	}

	/** The ids within a text, where both have as many. */
	private learnWithin(recorded: string, actual: string): void {
		const [ids, others] = [recorded, actual].map((text) => text.match(IDS) ?? []);
		if (ids?.length !== others?.length) return;
		ids?.forEach((id, place) => {
			const other = others?.[place];
			if (other !== undefined && !this.known.has(id)) this.known.set(id, other);
		});
	}

	/** A recorded value as it would be with what the sandbox has made up. */
	apply<T>(value: T): T {
		if (typeof value === 'string') return this.inText(value) as T;
		if (Array.isArray(value)) return value.map((element: unknown) => this.apply(element)) as T;
		if (!isPlainObject(value)) return value;
		const entries = Object.entries(value as object).map(([key, one]) => [key, this.apply(one)]);
		return Object.fromEntries(entries) as T;
	}

	private inText(text: string): string {
		const whole = this.known.get(text);
		if (whole !== undefined) return whole;
		let changed = text;
		// The longest first: an address has ids in it.
		for (const [recorded, actual] of sortBy([...this.known], ([one]) => -one.length)) {
			if (changed.includes(recorded)) changed = changed.replaceAll(recorded, actual);
		}
		return changed;
	}
}
