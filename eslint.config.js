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
  archive: ['protocol', 'domain'],
  offline: [],
  state: ['relay', 'ledger', 'sync', 'archive', 'protocol', 'domain'],
  ui: ['state', 'archive', 'protocol', 'domain'],
  entry: ['ui', 'state', 'relay', 'ledger', 'sync', 'archive', 'offline', 'protocol', 'domain'],
  server: ['protocol', 'domain'],
};
const types = Object.keys(MAY_IMPORT);
/** Elements are folders; the files that stand in `src` itself are a category of files. */
const selector = (type) => (type === 'entry' ? { file: { categories: 'entry' } } : { element: { type } });
const folderOf = (type) => (type === 'server' ? 'server' : `src/${type}`);
const packages = (...source) => ({ to: { module: { origin: 'external', source } } });
const nodeModules = { to: { module: { origin: 'core' } } };
/** Storage of the browser's, each known to one folder, or two. */
const OWNERS = { '@fireproof/*': ['ledger'], idb: ['ledger', 'sync'] };

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
      // Our imports name their files whole, so no resolver that knows TypeScript is needed.
      'import/resolver': { node: { extensions: ['.ts', '.tsx', '.js'] } },
      'boundaries/elements': types
        .filter((type) => type !== 'entry')
        .map((type) => ({ type, pattern: folderOf(type), partialMatch: false })),
      'boundaries/files': [{ category: 'entry', pattern: 'src/*.{ts,tsx}' }],
    },
    rules: {
      // A folder that is not in the table above would go unchecked.
      'boundaries/no-unknown-files': 'error',
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          checkAllOrigins: true,
          checkUnknownLocals: true,
          checkInternals: false,
          policies: [
            { allow: packages('*', '@*/*') },
            { from: selector('server'), allow: nodeModules },
            // What is not code: the protocol document, the version, styles and pictures.
            { allow: { to: { file: { path: ['CLAUDE.md', 'package.json', '**/*.{css,svg,png}'] } } } },
            ...types.flatMap((type) =>
              [type, ...MAY_IMPORT[type]].map((other) => ({ from: selector(type), allow: { to: selector(other) } })),
            ),
            ...Object.entries(OWNERS).flatMap(([name, owners]) =>
              types.filter((type) => !owners.includes(type)).map((type) => ({ from: selector(type), disallow: packages(name) })),
            ),
            { from: selector('domain'), disallow: packages('*', '@*/*') },
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
