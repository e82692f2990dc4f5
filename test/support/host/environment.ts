import '../../engine/support/environment';
import LendingEnvironment from './lending';

/** Lends tests on the engine also the modules of n8n, loaded as in n8n: otherwise they take seconds in each file. */
export default class EngineEnvironment extends LendingEnvironment {
	constructor(...given: ConstructorParameters<typeof LendingEnvironment>) {
		super(...given);
		this.global.requireOfEngine = this.global.requireOfHost;
	}
}
