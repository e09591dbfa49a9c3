/** The arrows of the layout: a folder may import from those named here and from itself, and nothing else of ours. */
export const MAY_IMPORT = {
  domain: [],
  language: [],
  protocol: ['domain'],
  ledger: ['protocol', 'domain'],
  relay: ['protocol', 'domain'],
  sync: ['protocol', 'domain'],
  archive: ['protocol', 'domain'],
  search: ['protocol', 'domain'],
  offline: ['domain'],
  state: ['language', 'relay', 'ledger', 'sync', 'archive', 'protocol', 'domain'],
  ui: ['language', 'state', 'archive', 'protocol', 'domain'],
  entry: ['ui', 'language', 'state', 'relay', 'ledger', 'sync', 'archive', 'search', 'offline', 'protocol', 'domain'],
};
/** Files of `server` itself that everything there may stand on: HTTP, errors, settings, and what parts are to each other. */
const SERVER_BASE = [
  ...['body', 'config-text', 'endpoint', 'json-bounds', 'problem', 'connections', 'listen', 'tls', 'upgrade'],
  ...['bounded-fetch', 'flood', 'pace', 'read-json', 'too-much'],
  ...[
    'address-rules',
    'error-code',
    'key-filter',
    'logger',
    'owner-rights',
    'picture',
    'quotas',
    'settings',
    'start-error',
    'stream',
    'unsent',
    'whole-file',
  ],
  ...['contracts', 'define-tool'],
];
/** The same within the relay, from the lowest: each stands on `base` and on those named here, which stand above it in this list. */
const SERVER_MAY_IMPORT = {
  store: [],
  access: ['store'],
  directory: ['store'],
  events: ['store'],
  inbox: ['store'],
  minds: [],
  pauses: [],
  gate: ['directory', 'store'],
  costs: ['events', 'gate', 'store'],
  records: ['gate', 'store'],
  threads: ['records', 'store'],
  mcp: ['access', 'store', 'threads'],
  searches: ['threads'],
  proxy: ['access', 'minds'],
  runs: ['inbox', 'minds', 'store'],
  reach: ['inbox', 'runs'],
  workspaces: ['directory'],
  processes: [],
  sandbox: ['models', 'processes', 'workspaces'],
  shell: ['sandbox', 'workspaces'],
  web: ['models'],
  pins: ['sandbox', 'workspaces'],
  hands: ['pins', 'sandbox', 'shell', 'web', 'workspaces'],
  calls: ['directory', 'minds', 'pins', 'runs', 'store'],
  notifications: ['calls', 'models', 'schedules', 'store'],
  attached: ['models', 'processes', 'records', 'runs', 'schedules', 'store'],
  programs: ['minds', 'processes', 'runs', 'schedules', 'store', 'workspaces'],
  schedules: ['directory', 'minds', 'processes', 'records', 'runs', 'sandbox', 'store', 'workspaces'],
  models: ['minds', 'proxy', 'schedules', 'store'],
  session: ['minds', 'runs', 'store'],
  sync: ['access', 'store'],
};
for (const [part, others] of Object.entries({
  ...SERVER_MAY_IMPORT,
  homes: Object.keys(SERVER_MAY_IMPORT),
}))
  MAY_IMPORT[`server/${part}`] = [...others.map((other) => `server/${other}`), 'server/base', 'protocol', 'domain'];
// A mind is an argument of the session's contract, and whoever waits for the store knows its states; neither knows any contract.
MAY_IMPORT['server/base'] = ['server/minds', 'server/store', 'protocol', 'domain'];
MAY_IMPORT['server'] = [...Object.keys(MAY_IMPORT).filter((type) => type.startsWith('server/')), 'protocol', 'domain'];
const types = Object.keys(MAY_IMPORT);
/** Elements are folders; the files that stand in `src` and in `server` themselves are categories of files. */
const FILES = {
  entry: 'src/*.{ts,tsx}',
  'server/base': [`server/{${SERVER_BASE.join(',')}}.ts`, 'server/contracts/*.ts'],
  // `npm start` and `npm run build` are plain JavaScript: they run before anything is built.
  server: [`server/!(${SERVER_BASE.join('|')}).ts`, 'server/*.mjs'],
};
const selector = (type) => (type in FILES ? { file: { categories: type } } : { element: { type } });
const folderOf = (type) => (type.startsWith('server/') ? type : `src/${type}`);
const packages = (...source) => ({ to: { module: { origin: 'external', source } } });
const nodeModules = { to: { module: { origin: 'core' } } };
/** Storage of the browser's, each known to one folder, or two. */
const OWNERS = { '@fireproof/*': ['ledger'], idb: ['ledger', 'sync', 'search'] };
/** What a file of this type may import, and what not. `null`: of one that is in no type, which is an error of its own. */
const arrowsOf = (type) => [
  'error',
  {
    default: 'disallow',
    checkAllOrigins: true,
    checkUnknownLocals: true,
    checkInternals: false,
    policies: [
      { allow: packages('*', '@*/*') },
      ...(type?.startsWith('server') ? [{ allow: nodeModules }] : []),
      // What is not code: the protocol document, the version, styles and pictures.
      { allow: { to: { file: { path: ['CLAUDE.md', 'package.json', '**/*.{css,svg,png}'] } } } },
      ...(type ? [{ allow: { to: [type, ...MAY_IMPORT[type]].map(selector) } }] : []),
      ...Object.entries(OWNERS)
        .filter(([, owners]) => !owners.includes(type))
        .map(([name]) => ({ disallow: packages(name) })),
      ...(type === 'domain' ? [{ disallow: packages('*', '@*/*') }] : []),
    ],
  },
];
/** The linter knows no `!(…)`: what is not of the type is left out by itself. */
const filesOf = (type) =>
  type === 'server' ? ['server/*.ts'] : [FILES[type] ?? `${folderOf(type)}/**/*.{ts,tsx}`].flat();

/**
 * What came later than the oldest browsers of the README, and that TypeScript's `lib` (ES2023) does not hold back. Ways
 * round them stand in `src/domain/platform/old-browsers.ts`.
 */
const TOO_NEW = [
  ['requestIdleCallback', 'no Safari has it'],
  ['cancelIdleCallback', 'no Safari has it'],
  ['BarcodeDetector', 'neither Safari nor Firefox has it'],
  ['scheduler', 'no Safari before 26 has it'],
  ['CloseWatcher', 'neither Safari nor Firefox has it'],
  ['canParse', 'URL.canParse came with Safari 17: use urlOf', 'URL'],
  ['parse', 'URL.parse came with Safari 18: use urlOf', 'URL'],
  ['any', 'AbortSignal.any came with Safari 17.4', 'AbortSignal'],
  ['from', 'ReadableStream.from is in no Safari', 'ReadableStream'],
  ['startViewTransition', 'it came with Safari 18', 'document'],
];
const tooNew = {
  'no-restricted-globals': [
    'error',
    ...TOO_NEW.filter(([, , object]) => !object).map(([name, message]) => ({ name, message })),
  ],
  'no-restricted-properties': [
    'error',
    ...TOO_NEW.flatMap(([property, message, object]) =>
      (object ? [object] : ['window', 'self', 'globalThis']).map((of) => ({ object: of, property, message })),
    ),
  ],
};

/** The one place of the relay that starts programs: see there what it keeps from them. */
const STARTS_PROGRAMS = 'server/processes/start.ts';
const startsNone = {
  'typescript/no-restricted-imports': [
    'error',
    {
      paths: ['node:child_process', 'child_process', 'node:cluster', 'cluster'].map((name) => ({
        name,
        message: `${STARTS_PROGRAMS} starts every program of the relay`,
        allowTypeImports: true,
      })),
    },
  ],
};

/** Each of these names is an error where it is found. */
const errors = (prefix, names) => Object.fromEntries(names.split(/\s+/).map((name) => [prefix + name, 'error']));

/** What is wrong in any JavaScript. What no module may hold in the first place (`with`, octal numbers, one argument twice) no parser lets through. */
const EVERYWHERE = {
  ...errors(
    '',
    `for-direction no-array-constructor no-async-promise-executor no-case-declarations no-compare-neg-zero no-cond-assign
    no-constant-binary-expression no-constant-condition no-control-regex no-debugger no-delete-var no-dupe-else-if
    no-duplicate-case no-empty no-empty-character-class no-empty-pattern no-empty-static-block no-ex-assign
    no-extra-boolean-cast no-fallthrough no-global-assign no-invalid-regexp no-irregular-whitespace no-loss-of-precision
    no-misleading-character-class no-nonoctal-decimal-escape no-prototype-builtins no-regex-spaces no-self-assign
    no-shadow-restricted-names no-sparse-arrays no-unexpected-multiline no-unsafe-finally no-unsafe-optional-chaining
    no-unused-expressions no-unused-labels no-unused-private-class-members no-useless-backreference no-useless-catch
    no-useless-constructor no-useless-escape require-yield use-isnan valid-typeof`,
  ),
  'no-unused-vars': ['error', { caughtErrors: 'all' }],
  ...errors(
    'typescript/',
    `ban-ts-comment no-duplicate-enum-values no-dynamic-delete no-empty-object-type no-explicit-any
    no-extra-non-null-assertion no-extraneous-class no-invalid-void-type no-misused-new no-namespace
    no-non-null-asserted-nullish-coalescing no-non-null-asserted-optional-chain no-non-null-assertion no-require-imports
    no-this-alias no-unnecessary-type-constraint no-unsafe-declaration-merging no-unsafe-function-type
    no-wrapper-object-types prefer-as-const prefer-literal-enum-member prefer-namespace-keyword triple-slash-reference
    unified-signatures`,
  ),
};
/** What TypeScript itself finds where there are types. */
const UNTYPED = errors(
  '',
  `constructor-super getter-return no-class-assign no-const-assign no-dupe-class-members no-dupe-keys no-func-assign
  no-import-assign no-new-native-nonconstructor no-obj-calls no-redeclare no-setter-return no-this-before-super no-undef
  no-unreachable no-unsafe-negation no-with`,
);
const TYPED = {
  ...errors('', 'no-var prefer-const prefer-rest-params prefer-spread'),
  ...errors('typescript/', 'no-floating-promises await-thenable consistent-type-imports'),
  'typescript/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
  'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
};
const HOOKS = errors(
  'react/',
  `rules-of-hooks exhaustive-deps static-components use-memo preserve-manual-memoization incompatible-library
  immutability globals refs set-state-in-effect error-boundaries purity set-state-in-render unsupported-syntax`,
);
/** What a screen reader and a keyboard need. */
const ACCESSIBLE = {
  ...errors(
    'jsx-a11y/',
    `alt-text anchor-has-content anchor-is-valid aria-activedescendant-has-tabindex aria-props aria-proptypes aria-role
    aria-unsupported-elements autocomplete-valid click-events-have-key-events heading-has-content html-has-lang
    iframe-has-title img-redundant-alt label-has-associated-control media-has-caption mouse-events-have-key-events
    no-access-key no-autofocus no-distracting-elements no-redundant-roles role-has-required-aria-props
    role-supports-aria-props scope tabindex-no-positive`,
  ),
  'jsx-a11y/interactive-supports-focus': [
    'error',
    { tabbable: ['button', 'checkbox', 'link', 'searchbox', 'spinbutton', 'switch', 'textbox'] },
  ],
  'jsx-a11y/no-interactive-element-to-noninteractive-role': [
    'error',
    { tr: ['none', 'presentation'], canvas: ['img'] },
  ],
  'jsx-a11y/no-noninteractive-element-interactions': [
    'error',
    {
      handlers: [
        ...['onClick', 'onError', 'onLoad', 'onMouseDown', 'onMouseUp'],
        ...['onKeyPress', 'onKeyDown', 'onKeyUp'],
      ],
      alert: ['onKeyUp', 'onKeyDown', 'onKeyPress'],
      body: ['onError', 'onLoad'],
      dialog: ['onKeyUp', 'onKeyDown', 'onKeyPress'],
      iframe: ['onError', 'onLoad'],
      img: ['onError', 'onLoad'],
    },
  ],
  'jsx-a11y/no-noninteractive-element-to-interactive-role': [
    'error',
    {
      ul: ['listbox', 'menu', 'menubar', 'radiogroup', 'tablist', 'tree', 'treegrid'],
      ol: ['listbox', 'menu', 'menubar', 'radiogroup', 'tablist', 'tree', 'treegrid'],
      li: ['menuitem', 'menuitemradio', 'menuitemcheckbox', 'option', 'row', 'tab', 'treeitem'],
      table: ['grid'],
      td: ['gridcell'],
      fieldset: ['radiogroup', 'presentation'],
    },
  ],
  'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: [], roles: ['tabpanel'], allowExpressionValues: true }],
  'jsx-a11y/no-static-element-interactions': [
    'error',
    {
      allowExpressionValues: true,
      handlers: ['onClick', 'onMouseDown', 'onMouseUp', 'onKeyPress', 'onKeyDown', 'onKeyUp'],
    },
  ],
};

/** Lines of a file. A module is one concept, however long; at this size ask whether it is two. */
const MOST_LINES = 800;

const OURS = ['src/**/*.ts', 'src/**/*.tsx', 'server/**/*.ts'];

export default {
  plugins: ['typescript', 'react', 'jsx-a11y'],
  jsPlugins: ['eslint-plugin-boundaries', './oxlint.page-rules.js'],
  // Only what is named here.
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist', 'node_modules', 'test/artifacts', 'coverage'],
  env: { es2023: true },
  settings: {
    // Our imports name their files whole, so no resolver that knows TypeScript is needed.
    'import/resolver': { node: { extensions: ['.ts', '.tsx', '.js'] } },
    'boundaries/elements': types
      .filter((type) => !(type in FILES))
      .map((type) => ({ type, pattern: folderOf(type), partialMatch: false })),
    'boundaries/files': Object.entries(FILES).map(([category, pattern]) => ({ category, pattern })),
  },
  rules: EVERYWHERE,
  overrides: [
    { files: ['**/*.ts', '**/*.tsx'], rules: TYPED },
    { files: ['**/*.js', '**/*.mjs'], globals: { process: 'readonly', console: 'readonly' }, rules: UNTYPED },
    {
      files: OURS,
      rules: {
        // A folder that is not in the table above would go unchecked.
        'boundaries/no-unknown-files': 'error',
        'boundaries/dependencies': arrowsOf(null),
        'max-lines': ['error', MOST_LINES],
      },
    },
    // A file is held against the arrows of its own type, not against those of all.
    ...types.map((type) => ({
      files: filesOf(type),
      excludeFiles: type === 'server' ? filesOf('server/base') : [],
      rules: { 'boundaries/dependencies': arrowsOf(type) },
    })),
    { files: ['server/**/*.ts'], excludeFiles: [STARTS_PROGRAMS], rules: startsNone },
    { files: ['src/**/*.ts', 'src/**/*.tsx'], rules: tooNew },
    {
      files: ['src/**/*.ts', 'src/**/*.tsx'],
      excludeFiles: ['src/ui/parts/keys.ts'],
      rules: { 'page/keys-by-helper': 'error' },
    },
    { files: ['src/**/*.tsx'], rules: { ...HOOKS, ...ACCESSIBLE, 'page/text-of-its-own': 'error' } },
  ],
};
