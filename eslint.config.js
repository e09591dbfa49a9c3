import js from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** The arrows of the layout: a folder may import from those named here and from itself, and nothing else of ours. */
const MAY_IMPORT = {
  domain: [],
  protocol: ['domain'],
  ledger: ['protocol', 'domain'],
  relay: ['protocol', 'domain'],
  sync: ['protocol', 'domain'],
  state: ['relay', 'ledger', 'sync', 'protocol', 'domain'],
  ui: ['state', 'protocol', 'domain'],
  entry: ['ui', 'state', 'relay', 'ledger', 'sync', 'protocol', 'domain'],
  server: ['protocol', 'domain'],
};
const folders = Object.keys(MAY_IMPORT).filter((type) => type !== 'entry' && type !== 'server');
const allBut = (type) => ({ element: { type: `!${type}` } });
const modules = (origin, source) => ({ to: { module: { origin, ...(source && { source }) } } });

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'test/artifacts', 'coverage'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // TypeScript itself checks these, with types.
      'no-undef': 'off',
      'no-redeclare': 'off',
    },
  },
  { files: ['**/*.js', '**/*.mjs'], languageOptions: { globals: { process: 'readonly', console: 'readonly' } } },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'server/**/*.ts'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { typescript: true },
      'boundaries/elements': [
        ...folders.map((type) => ({ type, pattern: `src/${type}` })),
        { type: 'server', pattern: 'server' },
        { type: 'entry', pattern: 'src/*.{ts,tsx}', partialMatch: false },
      ],
    },
    rules: {
      // A folder that is not in the table above would go unchecked.
      'boundaries/no-unknown-files': 'error',
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          checkAllOrigins: true,
          policies: [
            { allow: modules('external') },
            { from: { element: { type: 'server' } }, allow: modules('core') },
            ...Object.entries(MAY_IMPORT).map(([type, others]) => ({
              from: { element: { type } },
              allow: { to: { element: { types: { anyOf: [type, ...others] } } } },
            })),
            { from: allBut('ledger'), disallow: modules('external', ['@fireproof/*', '@fireproof/*/**', 'idb']) },
            { from: { element: { type: 'domain' } }, disallow: modules('external') },
          ],
        },
      ],
    },
  },
  {
    files: ['src/**/*.tsx'],
    plugins: { 'react-hooks': reactHooks, 'jsx-a11y': jsxA11y },
    rules: { ...reactHooks.configs.recommended.rules, ...jsxA11y.flatConfigs.recommended.rules },
  },
);
