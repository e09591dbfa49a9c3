/**
 * What prompts say of tools. All of it is made here, from the tools that an agent is really
 * offered, so that no prompt names a tool that is not there, or denies one that is. Pure.
 */
import { ATTACHED_PREFIX } from './toolsets.ts';

/** Placeholders of templates that stand for a tool: its name where it is offered, else nothing. */
export const NAMED_TOOLS = ['choose_name', 'write_soul', 'message_human', 'wake_cancel'] as const;

/**
 * What can be done with tools: the first row that holds is said of each group. All the tools of a
 * row are needed.
 */
const ABILITIES: readonly (readonly (readonly [tools: readonly string[], words: string])[])[] = [
  [
    [['read_file', 'write_file'], 'read and write files in a folder of your own'],
    [['read_file'], 'read files in a folder of your own'],
    [['write_file'], 'write files into a folder of your own'],
  ],
  [[['run_command'], 'run commands']],
  [[['web_search'], 'search the web']],
  [
    [['fetch_page'], 'read pages of the web'],
    [['web_fetch'], 'read pages of the web'],
  ],
  [[['wake_agent'], 'wake the others']],
  [[['wake_later'], 'set yourself reminders']],
  [[['propose_routine'], 'propose a routine of your own']],
  [[['create_thread'], 'open threads with the others']],
  [[['search_conversations'], 'search earlier conversations']],
  [[['go_to_sleep'], 'go to sleep']],
];
const ATTACHED = 'use tools that the human has connected';
const SEARCHES = 'where you see no tool for it, search for one';

export type ToolPlaceholder = (typeof NAMED_TOOLS)[number] | 'can';

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/**
 * @param offered names of the tools that the agent is offered, also of those that it has to search
 *   for
 */
export function toolWords(offered: ReadonlySet<string>): Readonly<Record<ToolPlaceholder, string | null>> {
  const named = (name: string) => (offered.has(name) ? `\`${name}\`` : null);
  const can = ABILITIES.flatMap((rows) => rows.find(([tools]) => tools.every((tool) => offered.has(tool)))?.[1] ?? []);
  const hasAttached = [...offered].some((name) => name.startsWith(ATTACHED_PREFIX));
  const all = listed([...can, ...(hasAttached ? [ATTACHED] : [])]);
  return {
    choose_name: named('choose_name'),
    write_soul: named('write_soul'),
    message_human: named('message_human'),
    wake_cancel: named('wake_cancel'),
    can: all === '' || !offered.has('find_tool') ? all : `${all}; ${SEARCHES}`,
  };
}
