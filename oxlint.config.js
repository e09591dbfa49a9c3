/**
 * The arrows of the layout: a folder may import from those named here and from itself, and nothing
 * else of ours.
 */
const SHARED = {
  domain: [],
  rpc: ['domain'],
  protocol: ['rpc', 'domain'],
  replication: ['protocol', 'domain'],
  'relay-client': ['protocol', 'domain'],
};
const BROWSER = {
  'worker/ledger': [],
  'worker/search': [],
  'worker/sync': [],
  'service-worker': [],
  'page/language': [],
  'page/exports': [],
  'page/state': ['page/language', 'page/exports'],
  'page/ui': ['page/language', 'page/exports', 'page/state', 'page/ui/design'],
};
/** Rooms of the relay that every other there may stand on. */
const BASE = {
  platform: [],
  tools: [],
  store: ['platform'],
  log: ['store', 'platform'],
  http: ['store', 'platform'],
};
/**
 * The others, from the lowest: each may import the rooms above and those named here, which stand
 * above it in this list.
 */
const RELAY = {
  'team/directory': [],
  access: ['team/directory'],
  'team/inbox': [],
  'team/gate': ['team/directory'],
  'team/pauses': ['team/directory', 'team/gate'],
  'team/costs': ['team/directory', 'team/gate'],
  'team/records': ['team/gate'],
  'team/threads': ['team/directory', 'team/records'],
  'team/searches': ['team/directory', 'team/threads'],
  'team/memory': ['team/directory', 'team/gate', 'team/records', 'team/searches'],
  'files/workspaces': ['team/directory'],
  'files/history': ['team/directory', 'files/workspaces'],
  'execution/sandbox': ['files/workspaces'],
  'execution/shell': ['files/workspaces', 'execution/sandbox'],
  'execution/web': [],
  'execution/hands': [
    ...['access', 'team/gate', 'files/workspaces'],
    ...['execution/sandbox', 'execution/shell', 'execution/web'],
  ],
  'agents/minds': ['team/costs'],
  // Within the folder above, so it comes after it.
  'agents/minds/acp': ['access', 'files/workspaces', 'agents/minds'],
  'agents/runs': [
    ...['team/directory', 'team/gate', 'team/costs', 'team/inbox', 'team/memory', 'team/pauses'],
    ...['files/workspaces', 'agents/minds'],
  ],
  'agents/session': [
    ...['team/directory', 'team/gate', 'team/costs', 'team/inbox', 'team/memory', 'team/pauses'],
    ...['files/workspaces', 'agents/minds', 'agents/runs'],
  ],
  'agents/proxy': [
    ...['access', 'team/directory', 'team/gate', 'team/costs', 'team/pauses'],
    ...['agents/minds', 'agents/session'],
  ],
  'agents/wakes': [
    ...['team/directory', 'team/gate', 'team/inbox', 'team/pauses', 'team/threads'],
    ...['agents/runs', 'agents/session'],
  ],
  'agents/models': ['access', 'agents/minds', 'agents/proxy', 'agents/session'],
  'approvals/pins': ['team/gate', 'files/workspaces', 'execution/sandbox'],
  'approvals/requests': [
    ...['access', 'team/directory', 'team/gate', 'team/inbox'],
    ...['agents/minds', 'agents/wakes', 'agents/session', 'approvals/pins'],
  ],
  'mcp/client': ['access', 'team/directory', 'team/gate', 'team/records', 'approvals/requests'],
  'mcp/server': [
    ...['access', 'team/directory', 'team/gate', 'team/inbox', 'team/pauses', 'team/threads'],
    ...['agents/session'],
  ],
  'projects/board': ['team/directory', 'team/gate', 'team/records', 'team/threads', 'agents/runs'],
  'projects/checkouts': ['access', 'files/workspaces', 'execution/sandbox'],
  'projects/work': [
    ...['team/directory', 'team/gate', 'team/costs', 'files/workspaces', 'execution/shell'],
    ...['agents/minds', 'agents/runs', 'projects/board', 'projects/checkouts'],
  ],
  schedules: [
    ...['access', 'team/directory', 'team/gate', 'team/costs', 'team/inbox', 'team/records'],
    ...['files/workspaces', 'execution/sandbox', 'agents/minds', 'agents/runs', 'agents/session', 'agents/wakes'],
    ...['projects/board'],
  ],
  dreams: [
    ...['team/directory', 'team/gate', 'team/costs', 'team/memory'],
    ...['agents/minds', 'agents/runs', 'agents/session', 'agents/wakes', 'schedules'],
  ],
  exams: [
    ...['team/directory', 'team/gate', 'team/costs', 'team/memory', 'team/records'],
    ...['agents/minds', 'agents/runs', 'schedules'],
  ],
  webhooks: ['access', 'projects/board', 'schedules'],
  notifications: ['access', 'team/directory', 'approvals/requests', 'schedules'],
  sync: ['access'],
};
const below = (room, parts) => parts.map((part) => `${room}/${part}`);
const table = (room, parts, always = []) =>
  Object.entries(parts).map(([part, others]) => [`${room}/${part}`, [...below(room, others), ...always]]);
const shared = [...below('src/shared', Object.keys(SHARED))];
const base = [...below('server', Object.keys(BASE)), 'src/shared/protocol', 'src/shared/domain'];
const parts = below('server', Object.keys(RELAY));

export const MAY_IMPORT = Object.fromEntries([
  ...table('src/shared', SHARED),
  ...table('src', BROWSER, shared),
  // Tokens and parts of every page, which know nothing of Roost. The files of `page/ui` include
  // these, so their rules come after.
  ['src/page/ui/design', []],
  ...table('server', BASE, ['src/shared/protocol', 'src/shared/domain']),
  ...table('server', RELAY, base),
  // Entries between devices come by the relay, too.
  ['server/sync', [...below('server', RELAY.sync), ...base, 'src/shared/replication']],
  // One household of all those parts; and what makes a relay of them.
  ['server/households', [...parts, ...base]],
  ['server/startup', ['server/households', ...parts, ...base]],
  ['server/cli', ['server/startup', 'server/households', ...parts, ...base]],
  ['server', ['server/cli', 'server/startup', 'server/households', ...parts, ...base]],
  // What starts in the browser: the page, and the worker that holds the data.
  ['entry', [...below('src', Object.keys(BROWSER)), ...shared]],
]);
const types = Object.keys(MAY_IMPORT);
/** Elements are folders; these files stand in a room of their own. */
const FILES = {
  entry: ['src/page/main.tsx', 'src/worker/worker.ts'],
  // `npm start` is plain JavaScript: it runs before anything is built.
  server: ['server/*.ts', 'server/*.mjs'],
};
const selector = (type) => (type in FILES ? { file: { categories: type } } : { element: { type } });
const packages = (...source) => ({ to: { module: { origin: 'external', source } } });
const nodeModules = { to: { module: { origin: 'core' } } };
/** Storage of the browser's, each known to one folder, or two. */
const OWNERS = {
  '@fireproof/*': ['src/worker/ledger'],
  idb: ['src/worker/ledger', 'src/worker/sync', 'src/worker/search'],
};
/**
 * What a file of this type may import, and what not. `null`: of one that is in no type, which is an
 * error of its own.
 */
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
      ...(type === 'src/shared/domain' ? [{ disallow: packages('*', '@*/*') }] : []),
    ],
  },
];
const filesOf = (type) => [FILES[type] ?? `${type}/**/*.{ts,tsx}`].flat();

/**
 * What came later than the oldest browsers of the README, and that TypeScript's `lib` (ES2023) does
 * not hold back. Ways round them stand in `src/shared/domain/platform/old-browsers.ts`.
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
const STARTS_PROGRAMS = 'server/platform/processes/index.ts';
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

/**
 * What is wrong in any JavaScript. What no module may hold in the first place (`with`, octal
 * numbers, one argument twice) no parser lets through.
 */
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

/** Lines of a function, which has one job. */
const MOST_FUNCTION_LINES = 200;
/** Files with a longer one. This list only becomes shorter. */
const LONG_FUNCTIONS = ['server/store/steps/0001-tables.ts'];

const OURS = ['src/**/*.ts', 'src/**/*.tsx', 'server/**/*.ts'];

export default {
  plugins: ['typescript', 'react', 'jsx-a11y'],
  jsPlugins: ['eslint-plugin-boundaries', './test/lint/page-rules.js'],
  // Only what is named here.
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['dist', 'node_modules', 'test/artifacts', 'coverage'],
  env: { es2023: true },
  settings: {
    // Our imports name their files whole, so no resolver that knows TypeScript is needed.
    'import/resolver': { node: { extensions: ['.ts', '.tsx', '.js'] } },
    // The first that matches counts: a folder within another comes before it.
    'boundaries/elements': types
      .filter((type) => !(type in FILES))
      .toSorted((a, b) => b.length - a.length)
      .map((type) => ({ type, pattern: type, partialMatch: false })),
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
    {
      files: OURS,
      excludeFiles: LONG_FUNCTIONS,
      rules: { 'max-lines-per-function': ['error', MOST_FUNCTION_LINES] },
    },
    // A file is held against the arrows of its own type, not against those of all.
    ...types.map((type) => ({
      files: filesOf(type),
      rules: { 'boundaries/dependencies': arrowsOf(type) },
    })),
    { files: ['server/**/*.ts'], excludeFiles: [STARTS_PROGRAMS], rules: startsNone },
    { files: ['src/**/*.ts', 'src/**/*.tsx'], rules: tooNew },
    {
      files: ['src/**/*.ts', 'src/**/*.tsx'],
      excludeFiles: ['src/page/ui/design/keys.ts'],
      rules: { 'page/keys-by-helper': 'error' },
    },
    { files: ['src/**/*.tsx'], rules: { ...HOOKS, ...ACCESSIBLE, 'page/text-of-its-own': 'error' } },
  ],
};
