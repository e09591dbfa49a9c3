import boundaries from 'eslint-plugin-boundaries';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** The arrows of the layout: a folder may import from those named here, and nothing else of ours. */
const MAY_IMPORT = {
  domain: ['domain'],
  protocol: ['protocol', 'domain'],
  ledger: ['ledger', 'protocol', 'domain'],
  relay: ['relay', 'protocol', 'domain'],
  sync: ['sync', 'protocol', 'domain'],
  state: ['state', 'relay', 'ledger', 'sync', 'protocol', 'domain'],
  ui: ['ui', 'state', 'protocol', 'domain'],
  server: ['server', 'protocol', 'domain'],
};

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'test/artifacts'] },
  ...tseslint.configs.strict,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
    },
  },
  { files: ['**/*.js', '**/*.mjs'], ...tseslint.configs.disableTypeChecked, languageOptions: { parserOptions: { projectService: false } } },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'server/**/*.ts'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { typescript: true },
      'boundaries/elements': [
        ...['domain', 'protocol', 'ledger', 'relay', 'sync', 'state', 'ui'].map((type) => ({ type, pattern: `src/${type}` })),
        { type: 'server', pattern: 'server' },
        { type: 'entry', pattern: 'src/*.{ts,tsx}', mode: 'full' },
      ],
    },
    rules: {
      'boundaries/element-types': [
        'error',
        {
          default: 'disallow',
          rules: [
            ...Object.entries(MAY_IMPORT).map(([from, allow]) => ({ from: [from], allow })),
            { from: ['entry'], allow: ['ui', 'state', 'relay', 'ledger', 'sync', 'protocol', 'domain', 'entry'] },
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
