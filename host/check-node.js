'use strict';

// Runs before anything is compiled, so it must load on any Node.js, however old.
var MINIMUM = [20, 19];

var own = process.versions.node.split('.').map(Number);

if (own[0] < MINIMUM[0] || (own[0] === MINIMUM[0] && own[1] < MINIMUM[1])) {
	console.error(
		'This project needs Node.js ' +
			MINIMUM.join('.') +
			' or newer; this is Node.js ' +
			process.versions.node +
			'.\nInstall Node.js 24, open a new terminal and run the command again.',
	);
	process.exit(1);
}
