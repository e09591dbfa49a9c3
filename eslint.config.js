import js from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

/** The arrows of the layout: a folder may import from those named here and from itself, and nothing else of ours. */
export const MAY_IMPORT = {
  domain: [],
  protocol: ['domain'],
  ledger: ['protocol', 'domain'],
  relay: ['protocol', 'domain'],
  sync: ['protocol', 'domain'],
  archive: ['protocol', 'domain'],
  offline: ['domain'],
  state: ['relay', 'ledger', 'sync', 'archive', 'protocol', 'domain'],
  ui: ['state', 'archive', 'protocol', 'domain'],
  entry: ['ui', 'state', 'relay', 'ledger', 'sync', 'archive', 'offline', 'protocol', 'domain'],
};
/** Files of `server` itself that everything there may stand on: HTTP, errors, settings, and what parts are to each other. */
const SERVER_BASE = [
  ...['body', 'config-text', 'endpoint', 'json-bounds', 'problem', 'connections', 'listen', 'tls', 'upgrade'],
  ...[
    'key-filter',
    'logger',
    'model-addresses',
    'quotas',
    'settings',
    'start-error',
    'stream',
    'unsent',
    'web-addresses',
  ],
  ...['contracts', 'define-tool', 'tool-outcome'],
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
  proxy: ['access', 'minds'],
  runs: ['inbox', 'minds'],
  reach: ['inbox', 'runs'],
  workspaces: ['directory'],
  sandbox: [],
  shell: ['sandbox', 'workspaces'],
  web: ['models'],
  hands: ['sandbox', 'shell', 'web', 'workspaces'],
  calls: ['directory', 'minds', 'runs', 'store'],
  attached: ['models', 'runs', 'schedules', 'store'],
  schedules: ['directory', 'minds', 'records', 'runs', 'sandbox', 'store', 'workspaces'],
  models: ['minds', 'proxy', 'schedules', 'store'],
  session: ['minds', 'runs'],
  sync: ['access', 'store'],
};
for (const [part, others] of Object.entries({
  ...SERVER_MAY_IMPORT,
  homes: Object.keys(SERVER_MAY_IMPORT),
}))
  MAY_IMPORT[`server/${part}`] = [...others.map((other) => `server/${other}`), 'server/base', 'protocol', 'domain'];
// A mind is an argument of the session's contract; no mind knows any contract.
MAY_IMPORT['server/base'] = ['server/minds', 'protocol', 'domain'];
MAY_IMPORT['server'] = [...Object.keys(MAY_IMPORT).filter((type) => type.startsWith('server/')), 'protocol', 'domain'];
const types = Object.keys(MAY_IMPORT);
/** Elements are folders; the files that stand in `src` and in `server` themselves are categories of files. */
const FILES = {
  entry: 'src/*.{ts,tsx}',
  'server/base': [`server/{${SERVER_BASE.join(',')}}.ts`, 'server/contracts/*.ts'],
  server: `server/!(${SERVER_BASE.join('|')}).ts`,
};
const selector = (type) => (type in FILES ? { file: { categories: type } } : { element: { type } });
const folderOf = (type) => (type.startsWith('server/') ? type : `src/${type}`);
const packages = (...source) => ({ to: { module: { origin: 'external', source } } });
const nodeModules = { to: { module: { origin: 'core' } } };
/** Storage of the browser's, each known to one folder, or two. */
const OWNERS = { '@fireproof/*': ['ledger'], idb: ['ledger', 'sync'] };
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
const filesOf = (type) => [FILES[type] ?? `${folderOf(type)}/**/*.{ts,tsx}`].flat();

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

/** Safari cannot iterate a stream. What has a `getReader` is one, whatever its type is called. */
const streams = {
  rules: {
    'no-stream-iteration': {
      meta: {
        type: 'problem',
        schema: [],
        messages: {
          stream:
            'Safari cannot iterate a stream: read it with getReader, or through chunksOf of src/domain/platform/old-browsers.ts.',
        },
      },
      create(context) {
        const { parserServices } = context.sourceCode;
        const checker = parserServices?.program?.getTypeChecker();
        if (!checker) return {};
        const isStream = (type) =>
          type.isUnion() ? type.types.some(isStream) : checker.getPropertyOfType(type, 'getReader') !== undefined;
        const look = (node) =>
          node && isStream(parserServices.getTypeAtLocation(node)) && context.report({ node, messageId: 'stream' });
        return {
          'ForOfStatement[await=true]': ({ right }) => look(right),
          'YieldExpression[delegate=true]': ({ argument }) => look(argument),
        };
      },
    },
  },
};

/** A function is split by what it does; one that is clearer whole says at its head why: `// In one piece: …`. */
const MOST_LINES = { file: 300, function: 100 };
const pieces = {
  rules: {
    'long-function': {
      meta: {
        type: 'suggestion',
        schema: [],
        messages: {
          long: 'This function has {{lines}} lines of code: split it by what it does, or say at its head why it is `In one piece: …`.',
          needless: 'This function has {{lines}} lines of code, and need not say why it is in one piece.',
        },
      },
      create({ sourceCode, report }) {
        const isCode = sourceCode.lines.map((line) => line.trim() !== '');
        for (const { loc } of sourceCode.getAllComments())
          for (let at = loc.start.line; at <= loc.end.line; at++) {
            const from = at === loc.start.line ? loc.start.column : 0;
            const to = at === loc.end.line ? loc.end.column : Infinity;
            const line = sourceCode.lines[at - 1];
            if ((line.slice(0, from) + line.slice(to)).replace(/^\{?\}?$/, '').trim() === '') isCode[at - 1] = false;
          }
        /** The statement, or the member, that it is all of. */
        const headOf = (node) =>
          /^(VariableDeclarat|Export|Property|MethodDefinition)/.test(node.parent?.type ?? '')
            ? headOf(node.parent)
            : node;
        const look = (node) => {
          const lines = isCode.slice(node.loc.start.line - 1, node.loc.end.line).filter(Boolean).length;
          const reason = sourceCode
            .getCommentsBefore(headOf(node))
            .some(({ value }) => value.includes('In one piece:'));
          if (lines > MOST_LINES.function !== reason)
            report({ node, messageId: reason ? 'needless' : 'long', data: { lines } });
        };
        return { FunctionDeclaration: look, FunctionExpression: look, ArrowFunctionExpression: look };
      },
    },
  },
};

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
        .filter((type) => !(type in FILES))
        .map((type) => ({ type, pattern: folderOf(type), partialMatch: false })),
      'boundaries/files': Object.entries(FILES).map(([category, pattern]) => ({ category, pattern })),
    },
    rules: {
      // A folder that is not in the table above would go unchecked.
      'boundaries/no-unknown-files': 'error',
      'boundaries/dependencies': arrowsOf(null),
    },
  },
  // A file is held against the arrows of its own type, not against those of all.
  ...types.map((type) => ({ files: filesOf(type), rules: { 'boundaries/dependencies': arrowsOf(type) } })),
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'server/**/*.ts'],
    plugins: { pieces },
    rules: { 'pieces/long-function': 'error', 'max-lines': ['error', MOST_LINES.file] },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    plugins: { streams },
    rules: { 'streams/no-stream-iteration': 'error', ...tooNew },
  },
  {
    files: ['src/**/*.tsx'],
    plugins: { 'react-hooks': reactHooks, 'jsx-a11y': jsxA11y },
    rules: { ...reactHooks.configs.recommended.rules, ...jsxA11y.flatConfigs.recommended.rules },
  },
);
