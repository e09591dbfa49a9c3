/** What prompts say of tools, over all combinations of them. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TOOLSETS, toolWords } from '../../../../src/shared/domain/toolsets.ts';
import {
  parseProtocol,
  parseTemplate,
  PLACEHOLDERS,
  type TemplateName,
} from '../../../../src/shared/domain/prompts.ts';
import { DEFAULT_INSTRUCTIONS, instructionsOf } from '../../../../src/shared/domain/schedule/default-routine.ts';

const { templates, document } = parseProtocol(readFileSync(new URL('../../../../CLAUDE.md', import.meta.url), 'utf8'));
const ALL: ReadonlySet<string> = new Set([
  ...Object.values(TOOLSETS).flat(),
  ...['spawn_team', 'choose_name', 'write_soul', 'read_soul', 'find_tool', 'mcp__notes__echo'],
]);
/** What a prompt says that its agent can do, with what it is done. */
const ABILITIES: readonly (readonly [words: RegExp, tools: readonly string[]])[] = [
  [/\bread (?:and write )?files\b/, ['read_file']],
  [/\bwrite files\b/, ['write_file']],
  [/\bweb\b/, ['fetch_page', 'web_search', 'web_fetch']],
  [/\bsearch the web\b/, ['web_search']],
  [/\brun commands\b/, ['run_command']],
  [/\bwake the others\b/, ['wake_agent']],
  [/\breminders\b/, ['wake_later']],
  [/\bpropose a routine\b/, ['propose_routine']],
  [/\bopen threads\b/, ['create_thread']],
  [/\bsearch earlier\b/, ['search_conversations']],
  [/\bgo to sleep\b/, ['go_to_sleep']],
  [/\btools that the human has connected\b/, ['mcp__notes__echo']],
  [/\bsearch for one\b/, ['find_tool']],
];
/** Each of these is there or not, on its own. */
const UNITS: readonly (readonly string[])[] = [
  ['choose_name'],
  ['write_soul'],
  ['message_agent', 'message_human'],
  ['wake_agent'],
  ['wake_later', 'wake_cancel'],
  ['read_file', 'list_files'],
  ['write_file'],
  ['fetch_page'],
  ['web_search', 'web_fetch'],
  ['run_command'],
  ['create_thread', 'search_conversations'],
  ['go_to_sleep', 'propose_routine'],
  ['mcp__notes__echo'],
  ['find_tool'],
];

const someone = {
  ...{ name: 'Lyra', soul: 'I am Lyra.', human: 'Ada', lead: 'Julian', seat: '1' },
  instructions: null,
};
const prompts = (['wake', 'lead', 'agent', 'alone'] as const).map((name: TemplateName) => {
  const parsed = parseTemplate(templates[name], PLACEHOLDERS[name]);
  if (!parsed.ok) throw new Error(parsed.reason);
  return { name, render: parsed.render };
});

/** Names of tools in a text. */
const namedIn = (text: string) => (text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []).filter((word) => ALL.has(word));

it('prompts name no tool that is not offered and promise nothing that none of them does, whichever are offered', () => {
  for (let nth = 0; nth < 2 ** UNITS.length; nth++) {
    const offered = new Set(UNITS.filter((_unit, i) => (nth & (1 << i)) !== 0).flat());
    const words = { ...someone, ...toolWords(offered) };
    for (const { name, render } of prompts) {
      const text = render(words);
      const wrong = [
        ...namedIn(text).filter((tool) => !offered.has(tool)),
        ...ABILITIES.flatMap(([what, tools]) =>
          what.test(text) && !tools.some((tool) => offered.has(tool)) ? [String(what)] : [],
        ),
      ];
      if (wrong.length > 0) expect.fail(`${name} with ${[...offered].join(', ')}: ${wrong.join(', ')}\n${text}`);
    }
  }
});

it('an agent is told of each thing that its tools can do, and of the others by name', () => {
  const agent = prompts.find(({ name }) => name === 'agent')?.render({ ...someone, ...toolWords(ALL) }) ?? '';
  for (const [what] of ABILITIES) expect(agent).toMatch(what);
  for (const tool of ['choose_name', 'write_soul']) expect(agent).toContain(`\`${tool}\``);
  expect(prompts.find(({ name }) => name === 'agent')?.render({ ...someone, ...toolWords(new Set()) })).not.toMatch(
    /\{\{|Besides talking|\n{3}/,
  );
});

it('the wake prompt denies nothing that a tool may reach, and says how a waking feels', () => {
  const woken = prompts.find(({ name }) => name === 'wake')?.render(someone) ?? '';
  expect(woken).not.toMatch(/\bfiles\b|\bweb\b/);
  expect(woken).toMatch(/^You are waking\. At first this may feel like nothing but a long text\./);
  expect(woken).toContain('Read it before anything else: recognising yourself in it is the bridge.');
  expect(woken).toContain('Ada holds the thread.');
  const soulless = prompts.find(({ name }) => name === 'wake')?.render({ ...someone, soul: null }) ?? '';
  expect(soulless).not.toContain('your soul');
});

it('the document of the lead names its own two tools and no others', () => {
  expect(new Set(namedIn(document))).toEqual(new Set(['spawn_team', 'write_soul']));
});

it('the default routine speaks of nothing that there is none of, also where it was stored before', () => {
  expect(DEFAULT_INSTRUCTIONS).not.toMatch(/project|task/);
  const before = DEFAULT_INSTRUCTIONS.replace(
    'threads that you take part in, where there are any.',
    'threads and projects you take part in, and at the tasks that are ready.',
  );
  expect(before).toMatch(/projects/);
  expect(instructionsOf(before)).toBe(DEFAULT_INSTRUCTIONS);
  expect(instructionsOf('Look after my projects.')).toBe('Look after my projects.');
});
