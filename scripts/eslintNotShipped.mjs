import { config as n8nRules } from '@n8n/node-cli/eslint';
import globals from 'globals';

/** Rules for what is in these folders of the package look for their files from its root. */
const isForShipped = ({ files = [] }) =>
	files.some((pattern) => /^\.\/|^package\.json$/.test(pattern));

/**
 * n8n's rules for code that is not shipped. It never runs inside n8n: it may use Node's globals and its
 * own dependencies. The package's own configuration is n8n's as it is, which n8n's cloud demands; ESLint
 * takes the one that is nearest to a file (lint.env).
 */
export default [
	{ ignores: ['dist/**'] },
	...n8nRules.filter((part) => !isForShipped(part)),
	{
		files: ['**/*.ts'],
		languageOptions: { globals: globals.node },
		rules: {
			'@n8n/community-nodes/no-restricted-imports': 'off',
			'@n8n/community-nodes/no-restricted-globals': 'off',
			'@n8n/community-nodes/no-dangerous-functions': 'off',
			'@n8n/community-nodes/require-node-api-error': 'off',
			// tsc resolves the paths from the root of the project that tests import by.
			'import-x/no-unresolved': 'off',
			'import-x/no-named-as-default': 'off',
			'import-x/no-named-as-default-member': 'off',
			'no-console': 'off',
			'no-restricted-syntax': [
				'error',
				{
					selector: 'ObjectExpression > SpreadElement > ObjectExpression',
					message: 'Write the properties out: a pack that is spread only makes lines fewer.',
				},
			],
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
			],
		},
	},
];
