'use strict';

// Runs before anything is compiled, so it must load on any Node, however old.
var MINIMUM = 20;

if (parseInt(process.versions.node, 10) < MINIMUM) {
	console.error(
		'This project needs Node.js ' +
			MINIMUM +
			' or newer; this is Node.js ' +
			process.versions.node +
			'.\nInstall Node.js 24, open a new terminal and run the command again.',
	);
	process.exit(1);
}
