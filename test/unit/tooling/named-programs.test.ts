/**
 * What the documentation says of other programs is held by tests. Every name of a client, a server,
 * a library or a protocol there stands here with the tests that speak as it does; a name that
 * stands in neither list is a sentence without a test.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');

const DOCS = [
  'README.md',
  ...['guide/models', 'guide/tools', 'guide/other-agents', 'guide/api', 'troubleshooting'].map(
    (name) => `docs/${name}.md`,
  ),
];

const SERVERS = 'test/relay/agents/models/model-servers.test.ts';
const WAYS = 'test/relay/agents/models/model-ways.test.ts';
const PROGRAMS = 'test/relay/agents/minds/acp/programs.test.ts';
const PASTED = 'test/unit/shared/protocol/mcp-settings.test.ts';
/**
 * By the name as the documentation has it. Each file says the name, or what follows in brackets of
 * it.
 */
const HELD: Readonly<Record<string, readonly string[]>> = {
  Ollama: [SERVERS],
  Tailscale: ['test/relay/access/tailnet.test.ts'],
  'LM Studio': [SERVERS],
  'llama.cpp': [SERVERS],
  vLLM: [SERVERS],
  LiteLLM: [SERVERS],
  OpenRouter: [SERVERS],
  Groq: [SERVERS, WAYS],
  Gemini: [SERVERS, 'test/relay/agents/proxy/proxy-translated.test.ts'],
  OpenAI: [SERVERS, 'test/relay/agents/minds/protocols.test.ts'],
  Google: ['test/relay/agents/minds/protocols.test.ts', 'test/relay/agents/proxy/proxy-translated.test.ts'],
  Anthropic: ['test/relay/agents/minds/minds.test.ts', 'test/relay/agents/proxy/proxy-relay.test.ts'],
  'Messages API': ['test/relay/agents/proxy/proxy-translated.test.ts'],
  'Chat Completions': ['test/relay/agents/minds/protocols.test.ts', 'test/relay/agents/proxy/proxy-translated.test.ts'],
  Responses: [SERVERS],
  Claude: ['test/relay/agents/minds/minds.test.ts', 'test/relay/agents/proxy/proxy-other-models.test.ts'],
  'Claude Code': [
    'test/faults/long-acp-programs.ts',
    'test/attacks/planted.test.ts',
    'test/unit/page/ui/clients/clients.test.tsx',
  ],
  ChatGPT: ['test/unit/page/exports/imports/chatgpt.test.ts'],
  'claude-agent-acp': ['test/faults/long-acp-programs.ts'],
  Codex: [PROGRAMS, 'test/faults/long-acp-programs.ts'],
  'Gemini CLI': [PROGRAMS, PASTED, 'test/faults/long-acp-programs.ts'],
  opencode: [PROGRAMS, PASTED, 'test/faults/long-acp-programs.ts'],
  'Agent Client Protocol': [PROGRAMS],
  ACP: ['test/faults/long-acp-programs.ts'],
  MCP: [
    'test/relay/mcp/server/mcp-conformance.test.ts',
    'test/relay/mcp/client/mcp-client-conformance.test.ts',
    'test/relay/mcp/client/mcp-servers.test.ts',
  ],
  SSE: ['test/relay/mcp/client/mcp-servers-lines.test.ts'],
  OAuth: ['test/relay/mcp/client/mcp-servers.test.ts', 'test/support/authorisation-server.ts'],
  Safari: ['test/browser/engines.test.ts'],
  Firefox: ['test/browser/engines.test.ts'],
  OpenAPI: ['test/unit/server/http/open-api.test.ts'],
  'Vercel AI SDK': ['test/relay/agents/proxy/proxy-relay.test.ts'],
  'VS Code': [PASTED],
  Zed: [PASTED],
  Windsurf: [PASTED],
  npx: ['test/relay/mcp/client/mcp-servers-fetched.test.ts', 'test/unit/shared/protocol/runners.test.ts'],
  bunx: ['test/unit/shared/protocol/runners.test.ts'],
  uvx: ['test/unit/shared/protocol/runners.test.ts'],
};
/** Names that are no claim about another program, or that other documentation holds. */
const OTHERS = new Set([
  ...['Node.js', 'Tomorrow', 'Opus', 'Sonnet', 'Troubleshooting', 'Operate', 'MIT', 'LICENSE'],
  ...['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...[
    'Roost',
    'Node',
    'Linux',
    'Chromium',
    'HTTP',
    'JSON',
    'TLS',
    'API',
    'CDN',
    'AI',
    'SDK',
    'CLI',
    'BPF',
    'VSOCK',
    'System',
    'V',
  ],
  ...[
    'Advanced',
    'Comments',
    'Rebuild',
    'Revoke',
    'URL',
    'WAKE',
    'SUMMON',
    'PATH',
    'HOME',
    'Enter',
    'GB',
    'MB',
    'KB',
    'ID',
  ],
]);

/** What is prose: code, quotations of the page and addresses of links are not. */
const proseOf = (text: string) =>
  text
    .replaceAll(/```[^]*?```/g, ' ')
    .replaceAll(/`[^`]*`|\*\*[^*]*\*\*|\*[^*\n]*\*|[“"][^”"]*[”"]|\]\([^)]*\)/g, ' § ');

/**
 * Words in small letters, of all documentation: what begins a sentence is one of them, or a name.
 */
const ordinary = new Set(
  [
    'README.md',
    'SECURITY.md',
    ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
  ]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => [...proseOf(read(path)).matchAll(/(?<!\w)[a-z][a-z-]+/g)].map(([word]) => word)),
);
const known = new Set(Object.keys(HELD).flatMap((name) => [name, ...name.split(' ')]));
const nameless = (text: string) =>
  [...proseOf(text).matchAll(/[A-Z][\w.+-]*\w|[a-z]+[A-Z]\w*/g)]
    .map(([word]) => word)
    .filter((word) => !known.has(word) && !OTHERS.has(word) && !ordinary.has(word.toLowerCase()));

it.each(DOCS)('%s names no program of which no test is known here', (path) => {
  expect(nameless(read(path))).toEqual([]);
});

it('a sentence about a program that nobody has tried is found', () => {
  expect(nameless('Frobnicator works too. So does LibreZork, with an address.')).toEqual(['Frobnicator', 'LibreZork']);
});

it.each(Object.entries(HELD))('%s is named in the documentation, and in the tests that hold it', (name, files) => {
  const said = new RegExp(name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), 'i');
  expect(DOCS.some((path) => said.test(read(path)))).toBe(true);
  expect(files.filter((path) => !existsSync(root + path) || !said.test(read(path)))).toEqual([]);
});

/** Addresses, variables and options of others, which are copied as they stand. */
it('an address, a variable or an option of another program stands in a test as it stands in the documentation', () => {
  const tests = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('named-programs.test.ts'))
    .map((path) => read(`test/${path}`))
    .join('\n');
  const copied = DOCS.flatMap((path) => [...read(path).matchAll(/`([^`\n]*)`/g)].map(([, code = '']) => code)).flatMap(
    (code) => [
      ...(code.match(/\b(?:ANTHROPIC|OLLAMA|ROOST)_[A-Z_]+\b/g) ?? []),
      ...(code.match(/https:\/\/[\w.]+/g) ?? []),
      ...(code.match(/\/v1[\w/]*/g) ?? []),
      ...(code.match(/--(?:jinja|enable-[\w-]+|transport)\b/g) ?? []),
    ],
  );
  expect(copied.length).toBeGreaterThan(15);
  expect([...new Set(copied)].filter((text) => !tests.includes(text))).toEqual([]);
});
