/** Tools with which an agent keeps and finds what it noted. Models read the descriptions. */
import { z } from 'zod';
import {
  fileOfSubject,
  insertAfter,
  MEMORY_LIMITS,
  memoryPath,
  NOTES_FILE,
  replaceOnce,
  TEAM_FOLDER,
  withNote,
} from '../../../src/shared/domain/memory.ts';
import { linesOf } from '../../../src/shared/domain/memory-lines.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import { wallTime } from '../../../src/shared/domain/zone-days.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { type Memory, type MemorySource, MOST_READ } from '../../../src/shared/protocol/memories.ts';
import type { Configs } from '../gate/configs.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { withMostWords } from '../searches/words.ts';
import type { ForeignReads } from './foreign.ts';
import { isOfOthers, type Memories, type MemoryOutcome } from './index.ts';

const path = z
  .string()
  .min(1)
  .max(MEMORY_LIMITS.path + '/memories/'.length);
const COMMANDS = ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] as const;
/** As Anthropic’s memory tool `memory_20250818` names them. */
const memoryInput = z.object({
  command: z.enum(COMMANDS),
  path: path.optional().describe('the file, such as plans.md; view without it lists all files'),
  view_range: z.tuple([z.number().int(), z.number().int()]).optional().describe('first and last line to view'),
  file_text: z.string().max(MEMORY_LIMITS.fileBytes).optional().describe('create: the whole text'),
  old_str: z.string().optional().describe('str_replace: text that occurs once'),
  new_str: z.string().optional(),
  insert_line: z.number().int().optional().describe('insert: the line after which to insert; 0: before all'),
  insert_text: z.string().optional(),
  old_path: path.optional().describe('rename: the file now'),
  new_path: path.optional().describe('rename: its new path'),
});
type MemoryInput = z.infer<typeof memoryInput>;

interface NotedLine {
  /** File and number. */
  readonly place: string;
  readonly text: string;
  /** The line was written after the agent had read text of others. */
  readonly ofOthers: boolean;
}

/** Most lines that `recall` names of memory files. */
const RECALLED_LINES = 20;

interface MemoryToolDeps {
  readonly memories: Pick<Memories, 'list' | 'find' | 'add' | 'change'>;
  readonly foreign: Pick<ForeignReads, 'seenBy'>;
  /** Null: the agent has none that the relay knows. */
  readonly soulOf: (caller: Caller) => Promise<string | null>;
  readonly searchConversations: TeamTool;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
}

const ONLY_READ = 'Files of the team are for reading. The human changes them.';

function failed(outcome: Exclude<MemoryOutcome<Memory>, { ok: true }>): ToolOutcome {
  return toolError(
    outcome.reason === 'changed-elsewhere' ? 'The file was changed meanwhile. View it again.' : outcome.detail,
  );
}

function numbered(text: string, range: readonly [number, number] | undefined): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const [from, to] = range ?? [1, lines.length];
  const last = to === -1 ? lines.length : Math.min(to, lines.length);
  return lines
    .slice(Math.max(1, from) - 1, last)
    .map((line, i) => `${String(Math.max(1, from) + i).padStart(5)}  ${line}`)
    .join('\n');
}

const MISSING: Readonly<Record<(typeof COMMANDS)[number], readonly (keyof MemoryInput)[]>> = {
  view: [],
  create: ['path', 'file_text'],
  str_replace: ['path', 'old_str'],
  insert: ['path', 'insert_line', 'insert_text'],
  delete: ['path'],
  rename: ['old_path', 'new_path'],
};

interface MemoryToolParts {
  readonly memories: Pick<Memories, 'list' | 'find' | 'add' | 'change'>;
  readonly sourceOf: (caller: Caller) => MemorySource;
}

/** The six commands. A dream has them over its draft. */
export function createMemoryTool({ memories, sourceOf }: MemoryToolParts): TeamTool {
  async function view(input: MemoryInput, { agentId }: Caller): Promise<ToolOutcome> {
    const path = memoryPath(input.path ?? '');
    if (path === '' || path === TEAM_FOLDER || `${path}/` === TEAM_FOLDER) {
      const [own, ofTeam] = await Promise.all([memories.list(agentId), memories.list(null)]);
      const line = (name: string, { text, pinned }: Memory) =>
        `- ${name}, ${Buffer.byteLength(text)} bytes${pinned ? ', pinned' : ''}`;
      const lines = [
        ...(path === '' ? own.map((file) => line(file.path, file)) : []),
        ...ofTeam.map((file) => line(`${TEAM_FOLDER}${file.path}`, file)),
      ];
      return toolDone(lines.length === 0 ? 'There are no files yet.' : lines.join('\n'));
    }
    const file = await (path.startsWith(TEAM_FOLDER)
      ? memories.find(null, path.slice(TEAM_FOLDER.length))
      : memories.find(agentId, path));
    if (!file) return toolError(`There is no file ${path}.`);
    const shown = toolDone(writeSaid({ head: `${path}:`, text: numbered(file.text, input.view_range) }));
    return linesOf(file).some(isOfOthers) ? { ...shown, isOfOthers: true } : shown;
  }

  /** A change of one file of the agent. */
  async function change(input: MemoryInput, caller: Caller): Promise<ToolOutcome> {
    const { command } = input;
    const source = sourceOf(caller);
    const path = memoryPath(input.old_path ?? input.path ?? '');
    const file = await memories.find(caller.agentId, path);
    if (command === 'create') {
      const text = input.file_text ?? '';
      const outcome = file
        ? await memories.change(file.memoryId, { edit: () => ({ ok: true, text }) }, source)
        : await memories.add(caller.agentId, { path: path, text }, source);
      return outcome.ok ? toolDone(`${path} is written.`) : failed(outcome);
    }
    if (!file) return toolError(`There is no file ${path}.`);
    const wantedChange = {
      str_replace: { edit: (text: string) => replaceOnce(text, input.old_str ?? '', input.new_str ?? '') },
      insert: { edit: (text: string) => insertAfter(text, input.insert_line ?? 0, input.insert_text ?? '') },
      delete: { removed: true as const },
      rename: { path: memoryPath(input.new_path ?? '') },
    }[command as Exclude<MemoryInput['command'], 'view' | 'create'>];
    const outcome = await memories.change(file.memoryId, wantedChange, source);
    if (!outcome.ok) return failed(outcome);
    if (command === 'delete') return toolDone(`${path} is removed.`);
    return toolDone(command === 'rename' ? `${path} is now ${outcome.value.path}.` : `${path} is changed.`);
  }

  return defineTool({
    name: 'memory',
    description:
      'Views and changes the Markdown files that you keep across sessions and runs: view, create, str_replace, insert, delete, rename. index.md is in every prompt; keep it short, and name your other files in it. Files below team/ are the whole team’s, for reading.',
    input: memoryInput,
    async run(given, caller) {
      const lacking = MISSING[given.command].filter((field) => given[field] === undefined);
      if (lacking.length > 0) return toolError(`${given.command} needs ${lacking.join(' and ')}.`);
      if (given.command === 'view') return await view(given, caller);
      const named = [given.path, given.old_path, given.new_path].filter((one) => one !== undefined);
      if (named.some((one) => `${memoryPath(one)}/`.startsWith(TEAM_FOLDER))) return toolError(ONLY_READ);
      return await change(given, caller);
    },
  });
}

export function createMemoryTools(deps: MemoryToolDeps): readonly TeamTool[] {
  const { memories, foreign, soulOf, searchConversations, configs, now } = deps;

  const sourceOf = (caller: Caller): MemorySource => ({
    by: 'agent',
    sessionId: caller.sessionId,
    runId: caller.runId ?? null,
    read: foreign.seenBy(caller).slice(-MOST_READ),
  });
  /** Today's date in the household's time zone, such as 2026-11-29. */
  const today = async () => {
    const { time_zone: zone } = (await configs.household()).effective;
    return new Date(wallTime(zone, now())).toISOString().slice(0, 10);
  };

  async function remember(
    { text, about }: { readonly text: string; readonly about?: string | undefined },
    caller: Caller,
  ): Promise<ToolOutcome> {
    const wanted = about === undefined ? NOTES_FILE : fileOfSubject(about);
    const day = await today();
    const source = sourceOf(caller);
    const file = await memories.find(caller.agentId, wanted);
    const outcome = file
      ? await memories.change(
          file.memoryId,
          { edit: (before) => ({ ok: true, text: withNote(before, day, text) }) },
          source,
        )
      : await memories.add(caller.agentId, { path: wanted, text: withNote('', day, text) }, source);
    return outcome.ok ? toolDone(`Noted in ${wanted}.`) : failed(outcome);
  }

  /** Lines of memory and soul with these words, each with its place. */
  async function noted(query: string, caller: Caller): Promise<readonly NotedLine[]> {
    const [own, ofTeam, soul] = await Promise.all([memories.list(caller.agentId), memories.list(null), soulOf(caller)]);
    const linesIn = (name: string, file: Memory) =>
      linesOf(file).map((line, i) => ({
        place: `${name}, line ${i + 1}`,
        text: line.text,
        ofOthers: isOfOthers(line),
      }));
    const lines = [
      ...own.flatMap((file) => linesIn(file.path, file)),
      ...ofTeam.flatMap((file) => linesIn(`${TEAM_FOLDER}${file.path}`, file)),
      ...(soul ?? '').split('\n').map((text, i) => ({ place: `your soul, line ${i + 1}`, text, ofOthers: false })),
    ];
    return withMostWords(
      lines.filter(({ text }) => text.trim() !== ''),
      query,
      ({ text }) => text,
    );
  }

  return [
    createMemoryTool({ memories, sourceOf }),
    defineTool({
      name: 'remember',
      description:
        'Adds a dated note to your memory. Use it for what you want to know in a later session: facts, decisions, promises. about: the subject, which names the file; left out: notes.md.',
      input: z.object({
        text: z.string().trim().min(1).max(MEMORY_LIMITS.note),
        about: z.string().trim().min(1).max(100).optional(),
      }),
      run: remember,
    }),
    defineTool({
      name: 'recall',
      description:
        'Searches what you noted, your soul, and what you took part in, for words that occur together. Each answer names its place.',
      input: z.object({
        query: z.string().trim().min(1).max(LIMITS.searchText),
        limit: z.number().int().min(1).max(LIMITS.searchPassages).default(10),
      }),
      readOnly: true,
      async run({ query, limit }, caller) {
        const lines = await noted(query, caller);
        const best = lines.slice(0, RECALLED_LINES);
        const ofOthers = best.some((line) => line.ofOthers);
        const shown = best.map(({ place, text }) =>
          writeSaid({ head: `${place}:`, text: cutMiddle(text, LIMITS.searchPassage) }),
        );
        const head = shown.length === 0 ? 'Nothing in your memory has these words.' : 'In your memory:';
        const more = lines.length > shown.length ? ['There are more lines with these words.'] : [];
        const inMemory = [head, ...shown, ...more].join('\n');
        const maySearch = (await searchConversations.allowed?.(caller)) ?? true;
        if (!maySearch) return { ...toolDone(inMemory), ...(ofOthers ? { isOfOthers: true } : {}) };
        const said = await searchConversations.run({ query, limit }, caller);
        return {
          text: `${inMemory}\n\n${said.text}`,
          isError: said.isError,
          ...(ofOthers || said.isOfOthers ? { isOfOthers: true } : {}),
        };
      },
    }),
  ];
}
