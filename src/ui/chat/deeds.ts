/** What tool calls did, as somebody would say it. */
import type { ToolBlock } from './parts.ts';

function argument(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !(key in input)) return null;
  const value: unknown = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : null;
}

type Deed = (argument: (key: string) => string | null) => string;
const who = (name: string | null) => name ?? 'another';
const file = (path: string | null) => path ?? 'a file';
/** Roost's own tools, as somebody would say what was done; what is not here goes by its name. */
const DEEDS: Readonly<Record<string, Deed>> = {
  spawn_team: () => 'called the team',
  choose_name: (of) => (of('name') === null ? 'chose a name' : `chose the name ${of('name')}`),
  write_soul: () => 'wrote down who they are',
  read_soul: () => 'read their soul',
  read_last_conversation: () => 'read their last conversation',
  message_agent: (of) => `wrote to ${who(of('to'))}`,
  message_human: () => 'wrote to you',
  wake_agent: (of) => `asked to wake ${who(of('to'))}`,
  read_inbox: () => 'looked into the inbox',
  list_team: () => 'looked who is here',
  wake_limits: () => 'looked at the limits',
  go_to_sleep: () => 'went to sleep',
  put_to_sleep: (of) => `put ${who(of('agent'))} to sleep`,
  create_thread: (of) => (of('title') === null ? 'began a thread' : `began the thread “${of('title')}”`),
  add_participant: (of) => `took ${who(of('agent'))} into a thread`,
  remove_participant: (of) => `took ${who(of('agent'))} out of a thread`,
  send_message_to_thread: () => 'wrote in a thread',
  close_thread: () => 'closed a thread',
  list_threads: () => 'looked through the threads',
  read_thread: () => 'read a thread',
  wait_for_message: () => 'waited for a message',
  wait_for_mention: () => 'waited to be mentioned',
  wait_for_agent: (of) => `waited for ${who(of('agent'))}`,
  wake_later: () => 'set a reminder',
  wake_list: () => 'looked what is due',
  wake_cancel: () => 'cancelled what was due',
  list_my_routines: () => 'looked through the routines',
  list_files: () => 'looked into the folder',
  read_file: (of) => `read ${file(of('path'))}`,
  write_file: (of) => `wrote ${file(of('path'))}`,
  edit_file: (of) => `changed ${file(of('path'))}`,
  view_image: (of) => `looked at ${file(of('path'))}`,
  run_command: (of) => `ran ${of('command') ?? 'a command'}`,
  read_output: () => 'looked what a command wrote',
  stop_command: () => 'ended a command',
  search_files: (of) => (of('text') === null ? 'searched the folder' : `searched the folder for “${of('text')}”`),
};

/** How the answer begins of a call that waits for the person. */
const ASKED = 'This waits for the human';

/** What a tool call did, in a few words. */
function toolPhrase({ name, input, result, isError }: ToolBlock): string {
  const done = DEEDS[name]?.((key) => argument(input, key)) ?? name;
  if (result?.startsWith(ASKED) === true)
    return `asked you first: ${argument(input, 'command') ?? argument(input, 'path') ?? name}`;
  if (isError) return `${done}: it did not work`;
  return result === null ? `${done}…` : done;
}

/** Phrases in the one line. */
const IN_LINE = 6;

/** What they did, in one line: the same again and again is said once, and of very many the first. */
export function deedsOf(tools: readonly ToolBlock[]): string {
  const phrases: { readonly text: string; times: number }[] = [];
  for (const text of tools.map(toolPhrase)) {
    const last = phrases.at(-1);
    if (last?.text === text) last.times += 1;
    else phrases.push({ text, times: 1 });
  }
  const shown = phrases.length > IN_LINE ? phrases.slice(0, IN_LINE - 1) : phrases;
  const left = phrases.slice(shown.length).reduce((sum, { times }) => sum + times, 0);
  return [
    ...shown.map(({ text, times }) => (times > 1 ? `${text}, ${times} times` : text)),
    ...(left > 0 ? [`and ${left} more`] : []),
  ].join(' · ');
}
