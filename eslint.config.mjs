import { config as n8nRules } from '@n8n/node-cli/eslint';
import globals from 'globals';

/**
 * n8n's rules for shipped code, as they are. The rest of the repository never runs inside n8n: it may
 * use Node's globals and its own dependencies, so the rules about those are lifted there.
 */
const NOT_SHIPPED = ['sandbox/**/*.ts', 'host/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'];

export default [
	{ ignores: ['**/dist/**', '.host/**', '**/node_modules/**', 'coverage/**'] },
	...n8nRules,
	{
		files: NOT_SHIPPED,
		languageOptions: { globals: globals.node },
		rules: {
			'@n8n/community-nodes/no-restricted-imports': 'off',
			'@n8n/community-nodes/no-restricted-globals': 'off',
			'@n8n/community-nodes/no-dangerous-functions': 'off',
			'@n8n/community-nodes/require-node-api-error': 'off',
			'import-x/no-named-as-default': 'off',
			'import-x/no-named-as-default-member': 'off',
			'no-console': 'off',
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
			],
		},
	},
];
