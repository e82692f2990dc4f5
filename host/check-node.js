'use strict';

// Runs before anything is compiled, so it must load on any Node, however old.
var MINIMUM = 20;

if (parseInt(process.versions.node, 10) < MINIMUM) {
	console.error(
		'This project needs Node ' +
			MINIMUM +
			' or newer; this is Node ' +
			process.versions.node +
			'.\nInstall a newer Node, open a new terminal and run the command again.',
	);
	process.exit(1);
}
