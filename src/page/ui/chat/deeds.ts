/** Describes tool calls in words for people. */
import { t } from '../../language/t.ts';
import type { ToolBlock } from './parts.ts';

/** The argument of this name if it is a text, otherwise null. */
export function argument(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !(key in input)) return null;
  const value: unknown = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : null;
}

type Deed = (argument: (key: string) => string | null) => string;
const who = (name: string | null) => name ?? t`another`;
const file = (path: string | null) => path ?? t`a file`;
/** Roost's own tools and what each did, in words. Other tools are shown by name. */
const DEEDS: Readonly<Record<string, Deed>> = {
  spawn_team: () => t`called the team`,
  choose_name: (of) => (of('name') === null ? t`chose a name` : t`chose the name ${of('name') ?? ''}`),
  write_soul: () => t`wrote down who it is`,
  read_soul: () => t`read its soul`,
  read_last_conversation: () => t`read its last conversation`,
  message_agent: (of) => t`wrote to ${who(of('to'))}`,
  message_human: () => t`wrote to you`,
  wake_agent: (of) => t`asked to wake ${who(of('to'))}`,
  read_inbox: () => t`looked into the inbox`,
  list_team: () => t`looked who is here`,
  wake_limits: () => t`looked at the limits`,
  go_to_sleep: () => t`went to sleep`,
  put_to_sleep: (of) => t`put ${who(of('agent'))} to sleep`,
  create_thread: (of) => (of('title') === null ? t`began a thread` : t`began the thread “${of('title') ?? ''}”`),
  add_participant: (of) => t`took ${who(of('agent'))} into a thread`,
  remove_participant: (of) => t`took ${who(of('agent'))} out of a thread`,
  send_message_to_thread: () => t`wrote in a thread`,
  close_thread: () => t`closed a thread`,
  list_threads: () => t`looked through the threads`,
  read_thread: () => t`read a thread`,
  wait_for_message: () => t`waited for a message`,
  wait_for_mention: () => t`waited to be mentioned`,
  wait_for_agent: (of) => t`waited for ${who(of('agent'))}`,
  search_conversations: (of) =>
    of('query') === null ? t`looked for earlier words` : t`looked for earlier words: “${of('query') ?? ''}”`,
  wake_later: () => t`set a reminder`,
  wake_schedule: () => t`set a reminder that comes again`,
  wake_script: () => t`asked for a script to be run by itself`,
  wake_list: () => t`looked what is due`,
  wake_cancel: () => t`cancelled what was due`,
  list_my_routines: () => t`looked through the routines`,
  propose_routine: () => t`proposed a routine`,
  list_files: () => t`looked into the folder`,
  read_file: (of) => t`looked into ${file(of('path'))}`,
  write_file: (of) => t`wrote ${file(of('path'))}`,
  edit_file: (of) => t`changed ${file(of('path'))}`,
  move_file: (of) => t`moved ${file(of('from'))} to ${file(of('to'))}`,
  delete_file: (of) => t`deleted ${file(of('path'))}`,
  view_image: (of) => t`looked at ${file(of('path'))}`,
  run_command: (of) => t`ran ${of('command') ?? t`a command`}`,
  read_output: () => t`looked what a command wrote`,
  stop_command: () => t`ended a command`,
  search_files: (of) =>
    of('text') === null ? t`searched the folder` : t`searched the folder for “${of('text') ?? ''}”`,
  fetch_page: () => t`read a page of the web`,
  web_search: (of) => (of('query') === null ? t`searched the web` : t`searched the web for “${of('query') ?? ''}”`),
  web_fetch: () => t`read a page of the web`,
  find_tool: () => t`looked for a tool`,
  // Thoughts of an ACP agent, under the name that it reports.
  mind__think: () => t`thought`,
  mind__plan: () => t`made a plan`,
  mind__read: (of) => of('title') ?? t`read files`,
  mind__search: (of) => of('title') ?? t`searched`,
  mind__edit: (of) => of('title') ?? t`changed files`,
  mind__delete: (of) => of('title') ?? t`deleted files`,
  mind__move: (of) => of('title') ?? t`moved files`,
  mind__execute: (of) => t`ran ${of('command') ?? of('title') ?? t`a command`}`,
  mind__fetch: (of) => of('title') ?? t`fetched something from the web`,
  mind__other: (of) => of('title') ?? t`did something in its own program`,
};

/**
 * The beginning of the result of a call that waits for the person. It is needed for blocks from
 * before `asks` existed, and for calls that an ACP agent reports.
 */
const ASKED = 'This waits for the human';

/** Whether this call only asked the person. */
export const isQuestion = ({ asks, result }: ToolBlock): boolean => asks ?? result?.startsWith(ASKED) ?? false;
/** The displayed name of an agent that a tool names by id, name or seat. */
export type NameOf = (reference: string) => string;
/** Arguments that refer to an agent. */
const WHOM: ReadonlySet<string> = new Set(['to', 'agent']);

/** Reads the arguments of a call, with agents by their names. */
export const argumentsOf =
  ({ input }: Pick<ToolBlock, 'input'>, nameOf: NameOf) =>
  (key: string): string | null => {
    const value = argument(input, key);
    return value !== null && WHOM.has(key) ? nameOf(value) : value;
  };

/** The MCP server and the tool's name on it; null: not a tool of an MCP server. */
export function attachedTool(name: string): { readonly server: string; readonly tool: string } | null {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}
function usedOf(name: string): string {
  const attached = attachedTool(name);
  return attached === null ? name : t`used ${attached.tool} of ${attached.server}`;
}

/** What the call did, if it succeeded. */
export const deedOf = (tool: Pick<ToolBlock, 'name' | 'input'>, nameOf: NameOf): string =>
  DEEDS[tool.name]?.(argumentsOf(tool, nameOf)) ?? usedOf(tool.name);

/** What the call would do once allowed. */
function askedOf({ name, input }: ToolBlock, deed: string): string {
  const attached = attachedTool(name);
  if (attached) return `${attached.tool} (${attached.server})`;
  return ['command', 'path', 'from', 'url'].map((key) => argument(input, key)).find((value) => value !== null) ?? deed;
}

/** Describes a tool call in a few words. */
export function toolPhrase(tool: ToolBlock, nameOf: NameOf): string {
  const { result, isError } = tool;
  const done = deedOf(tool, nameOf);
  if (isQuestion(tool)) return t`asked you first: ${askedOf(tool, done)}`;
  if (isError) return t`${done}: it did not work`;
  return result === null ? `${done}…` : done;
}

/** Phrases in one line. */
const IN_LINE = 6;

/**
 * Summarises tool calls in one line. Repetitions are named once, and only the first few are listed.
 */
export function deedsOf(tools: readonly ToolBlock[], nameOf: NameOf): string {
  const phrases: { readonly text: string; times: number }[] = [];
  for (const text of tools.map((tool) => toolPhrase(tool, nameOf))) {
    const last = phrases.at(-1);
    if (last?.text === text) last.times += 1;
    else phrases.push({ text, times: 1 });
  }
  const shown = phrases.length > IN_LINE ? phrases.slice(0, IN_LINE - 1) : phrases;
  const left = phrases.slice(shown.length).reduce((sum, { times }) => sum + times, 0);
  return [
    ...shown.map(({ text, times }) => (times > 1 ? t`${text}, ${times} times` : text)),
    ...(left > 0 ? [t`and ${left} more`] : []),
  ].join(' · ');
}
