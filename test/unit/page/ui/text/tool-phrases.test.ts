import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TOOLSETS } from '../../../../../src/shared/domain/toolsets.ts';
import { inWords, phraseOf, TOOL_PHRASES, wantsInGeneral } from '../../../../../src/page/ui/text/tool-phrases.ts';

/** Names of the tools that the sources of the relay define. */
function definedTools(): readonly string[] {
  const files = readdirSync('server', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const text = readFileSync(join('server', file), 'utf8');
    return [...text.matchAll(/(?:defineTool|\btool)\(\{\s*name: (?:'([a-z_]+)'|([A-Z_]+)(?:\.name)?)/g)].map(
      ([, literal, constant = '']) => literal ?? constant.toLowerCase(),
    );
  });
}

test('has a phrase for the act and the request of every tool', () => {
  const tools = new Set([...definedTools(), ...Object.values(TOOLSETS).flat(), 'find_tool', 'spawn_team']);
  expect(tools.size).toBeGreaterThan(55);
  expect([...tools].filter((tool) => !Object.hasOwn(TOOL_PHRASES, tool))).toEqual([]);
});

test('no phrase names a tool as the protocol does', () => {
  const texts = Object.values(TOOL_PHRASES).flatMap(({ did, does, wants }) =>
    [did, does ?? did, wants].map((words) => inWords(words, () => null)),
  );
  expect(texts.filter((text) => /_|mcp/.test(text))).toEqual([]);
});

test('a past phrase is never the same text as what an agent wants, since other languages have a form for each', () => {
  const all = Object.values(TOOL_PHRASES);
  for (const of of [() => null, () => 'x', () => 'https://example.org/a']) {
    const did = new Set(all.map((phrase) => inWords(phrase.did, of)));
    expect(all.map(({ wants }) => inWords(wants, of)).filter((wants) => did.has(wants) && wants !== 'x')).toEqual([]);
  }
});

test('an unknown tool of an MCP server is named with its server, and an unknown one of the relay by its name', () => {
  expect(inWords(phraseOf('mcp__notes__find_all').did, () => null)).toBe('used find_all of notes');
  expect(inWords(phraseOf('constructor').did, () => null)).toBe('used constructor');
  expect(wantsInGeneral('fetch_page')).toBe('read web pages');
});

test('characters that are not seen are named in what a call is about', () => {
  const of = (key: string) => (key === 'path' ? 'a\u202eb.md' : null);
  expect(inWords(phraseOf('delete_file').wants, of)).toBe('delete a⟨U+202E⟩b.md');
});
