/**
 * Every tool as a verb: what an agent did, does and wants to do with it. The one table for the
 * conversation, the tiles, the log, the approvals and copies. A text in it is either past or to
 * follow “wants to”, never both: other languages have a form for each. Pure.
 */
import { COLUMN_KINDS } from '../../../shared/domain/projects.ts';
import { MIND_PREFIX } from '../../../shared/domain/toolsets.ts';
import { urlOf } from '../../../shared/domain/platform/old-browsers.ts';
import { t } from '../../language/t.ts';
import { KIND_NAMES } from '../projects/words.ts';
import { plural } from './sizes.ts';
import { revealedCode, revealedLine } from './unseen.ts';

/** An argument of the call as text; null: it has none of this name. */
export type Argument = (key: string) => string | null;
type Words = string | ((of: Argument) => string);

export interface ToolPhrase {
  /** “read plan.md” */
  readonly did: Words;
  /** “reading plan.md”. Left out: the call takes no time, and is shown as done. */
  readonly does?: Words;
  /** To follow “wants to” and “may always”: “read plan.md”. */
  readonly wants: Words;
  /** Several calls in a row: “read 3 files”. Left out: the calls are named one by one. */
  readonly many?: (calls: number) => string;
  /** The agent waits for someone, and does nothing itself. */
  readonly waits?: true;
}

const who = (of: Argument, key: string) => of(key) ?? t`another agent`;
const file = (of: Argument, key = 'path') => {
  const path = of(key);
  return path === null ? t`a file` : revealedCode(path);
};
/** The file of the call, or files in general. */
const files = (of: Argument) => (of('path') === null ? t`files` : file(of));
const named = (of: Argument, key: string) => revealedLine(of(key) ?? '…');
/** The host of the page in the arguments; null: there is none. */
export const hostOf = (of: Argument) => urlOf(of('url') ?? '')?.host ?? null;

/** A command on one line, in code marks. */
const command = (of: Argument, key = 'command') => {
  const text = of(key);
  return text === null ? null : `\`${revealedCode(text).replace(/\s+/g, ' ').trim()}\``;
};
const ran = (of: Argument) => t`ran ${command(of) ?? command(of, 'title') ?? t`a command`}`;
const running = (of: Argument) => t`running ${command(of) ?? command(of, 'title') ?? t`a command`}`;

const waiting = (whom: (of: Argument) => string): ToolPhrase => ({
  did: (of) => t`waited for ${whom(of)}`,
  does: (of) => t`waits for ${whom(of)}`,
  wants: t`wait for others`,
  waits: true,
});

const TEAM: Readonly<Record<string, ToolPhrase>> = {
  spawn_team: { did: t`joined your call`, does: t`waiting for the team`, wants: t`join your call` },
  choose_name: {
    did: (of) => t`chose the name ${named(of, 'name')}`,
    wants: t`choose a name`,
  },
  write_soul: { did: t`wrote its soul`, wants: t`write its soul` },
  read_soul: { did: t`read its soul`, wants: t`see its soul` },
  read_last_conversation: { did: t`read its last conversation`, wants: t`see its last conversation` },
  message_agent: { did: (of) => t`wrote to ${who(of, 'to')}`, wants: t`write to other agents` },
  wake_agent: { did: (of) => t`asked to wake ${who(of, 'to')}`, wants: t`wake other agents` },
  message_human: { did: t`wrote to you`, wants: t`write to you` },
  read_inbox: { did: t`read its inbox`, wants: t`open its inbox` },
  list_team: { did: t`looked who is here`, wants: t`see who is here` },
  wake_limits: { did: t`checked its limits`, wants: t`check its limits` },
  go_to_sleep: { did: t`went to sleep`, wants: t`go to sleep` },
  put_to_sleep: { did: (of) => t`put ${who(of, 'agent')} to sleep`, wants: t`put others to sleep` },
  create_thread: {
    did: (of) => t`started the thread “${named(of, 'title')}”`,
    wants: t`start threads`,
  },
  add_participant: { did: (of) => t`added ${who(of, 'agent')} to a thread`, wants: t`add agents to threads` },
  remove_participant: {
    did: (of) => t`removed ${who(of, 'agent')} from a thread`,
    wants: t`remove agents from threads`,
  },
  send_message_to_thread: {
    did: t`wrote in a thread`,
    wants: t`write in threads`,
  },
  close_thread: { did: t`closed a thread`, wants: t`close threads` },
  list_threads: { did: t`looked through the threads`, wants: t`look through the threads` },
  read_thread: { did: t`read a thread`, wants: t`read threads` },
  wait_for_message: waiting(() => t`a message`),
  wait_for_mention: waiting(() => t`a mention`),
  wait_for_agent: waiting((of) => who(of, 'agent')),
  search_conversations: {
    did: (of) => t`searched earlier conversations for “${named(of, 'query')}”`,
    wants: t`search earlier conversations`,
  },
  memory: { did: t`looked through its memory`, wants: t`change its memory` },
  remember: { did: t`noted something`, wants: t`note something` },
  recall: { did: t`searched its memory`, wants: t`search its memory` },
  find_tool: { did: t`looked for a tool`, wants: t`look for a tool` },
};

const SETS_REMINDER: ToolPhrase = { did: t`set a reminder`, wants: t`set reminders` };
const CHECKS_SCHEDULE: ToolPhrase = { did: t`checked its schedule`, wants: t`check its schedule` };

const SCHEDULE: Readonly<Record<string, ToolPhrase>> = {
  wake_later: SETS_REMINDER,
  wake_schedule: SETS_REMINDER,
  wake_script: {
    did: (of) => t`scheduled its script “${named(of, 'name')}”`,
    wants: (of) => (of('name') === null ? t`schedule scripts` : t`schedule its script “${named(of, 'name')}”`),
  },
  accept_script: {
    did: (of) => t`changed its script “${named(of, 'name')}”`,
    wants: (of) => t`run the new text of its script “${named(of, 'name')}”`,
  },
  wake_cancel: { did: t`cancelled a reminder or script`, wants: t`cancel reminders and scripts` },
  wake_list: CHECKS_SCHEDULE,
  list_my_routines: CHECKS_SCHEDULE,
  propose_routine: {
    did: (of) => t`proposed the routine “${named(of, 'name')}”`,
    wants: t`propose routines`,
  },
};

const EXECUTOR: ToolPhrase = {
  did: t`gave work to an executor`,
  does: t`waiting for its executor`,
  wants: t`give work to executors`,
};

const PROJECTS: Readonly<Record<string, ToolPhrase>> = {
  get_my_projects: { did: t`looked through its projects`, wants: t`look through its projects` },
  get_ready_tasks: { did: t`looked for ready tasks`, wants: t`look for ready tasks` },
  get_task_context: {
    did: t`read the task`,
    wants: t`read tasks`,
  },
  claim_task: { did: t`took the task`, wants: t`take tasks` },
  release_task: { did: t`released the task`, wants: t`release tasks` },
  comment_on_task: { did: t`commented on the task`, wants: t`comment on tasks` },
  create_task: {
    did: (of) => t`added the task “${named(of, 'title')}”`,
    wants: t`add tasks`,
    many: (calls) => t`added ${calls} tasks`,
  },
  transition_task: { did: (of) => moved(of('status')), wants: t`move tasks` },
  meet_criterion: {
    did: t`checked off a criterion`,
    wants: t`check off criteria`,
  },
  open_pull_request: { did: t`opened a pull request`, does: t`opening a pull request`, wants: t`open pull requests` },
  read_skill: {
    did: (of) => t`read the skill “${named(of, 'name')}”`,
    wants: t`read skills`,
  },
  spawn_executor: EXECUTOR,
  execute_task: EXECUTOR,
};

/** The phrase for a move, by the kind of the new column. */
function moved(status: string | null): string {
  const kind = COLUMN_KINDS.find((one) => one === status);
  return kind ? t`moved the task to ${KIND_NAMES[kind]}` : t`moved the task`;
}

const FILES: Readonly<Record<string, ToolPhrase>> = {
  list_files: {
    did: t`looked through its folder`,
    wants: t`look through its folder`,
  },
  search_files: {
    did: (of) => t`searched its folder for “${revealedCode(of('text') ?? '…')}”`,
    wants: t`search its folder`,
  },
  read_file: {
    did: (of) => t`opened ${file(of)}`,
    does: (of) => t`reading ${file(of)}`,
    wants: (of) => t`read ${files(of)}`,
    many: (calls) => t`opened ${plural(calls, 'file')}`,
  },
  view_image: {
    did: (of) => t`looked at ${file(of)}`,
    wants: (of) => t`look at ${files(of)}`,
    many: (calls) => t`looked at ${plural(calls, 'file')}`,
  },
  write_file: {
    did: (of) => t`wrote ${file(of)}`,
    does: (of) => t`writing ${file(of)}`,
    wants: (of) => t`write ${files(of)}`,
    many: (calls) => t`wrote ${plural(calls, 'file')}`,
  },
  edit_file: {
    did: (of) => t`changed ${file(of)}`,
    does: (of) => t`changing ${file(of)}`,
    wants: (of) => t`change ${files(of)}`,
    many: (calls) => t`made ${calls} changes to files`,
  },
  move_file: {
    did: (of) => t`moved ${file(of, 'from')} to ${file(of, 'to')}`,
    wants: (of) => (of('from') === null ? t`move files` : t`move ${file(of, 'from')} to ${file(of, 'to')}`),
  },
  delete_file: {
    did: (of) => t`deleted ${file(of)}`,
    wants: (of) => {
      return of('recursive') === 'true' ? t`delete ${file(of)}, with all that is in it` : t`delete ${files(of)}`;
    },
  },
};

const site = (of: Argument) => hostOf(of) ?? t`the web`;
const READS_PAGE: ToolPhrase = {
  did: (of) => t`read a page on ${site(of)}`,
  does: (of) => t`reading a page of ${site(of)}`,
  wants: (of) => (hostOf(of) === null ? t`read web pages` : t`read a page of ${site(of)}`),
  many: (calls) => t`read ${calls} web pages`,
};

const SHELL_AND_WEB: Readonly<Record<string, ToolPhrase>> = {
  run_command: {
    did: ran,
    does: running,
    wants: (of) => {
      if (of('command') === null) return t`run commands`;
      return of('background') === 'true' ? t`run a command in the background` : t`run a command`;
    },
    many: (calls) => t`ran ${plural(calls, 'command')}`,
  },
  read_output: { did: t`read the output of a command`, wants: t`read the output of commands` },
  stop_command: { did: t`stopped a command`, wants: t`stop commands` },
  fetch_page: READS_PAGE,
  web_fetch: READS_PAGE,
  web_search: {
    did: (of) => t`searched the web for “${named(of, 'query')}”`,
    does: t`searching the web`,
    wants: t`search the web`,
    many: (calls) => t`searched the web ${calls} times`,
  },
};

const inProgram = (wants: string) => t`${wants} in its own program`;
/** A phrase with the title that the program gives to the call. */
const titled = (did: string, does: string, wants: string): ToolPhrase => ({
  did: (of) => of('title') ?? did,
  does: (of) => of('title') ?? does,
  wants: inProgram(wants),
});
const READS = titled(t`opened ${t`a file`}`, t`reading ${t`a file`}`, t`read ${t`files`}`);
const CHANGES = titled(t`changed ${t`a file`}`, t`changing ${t`a file`}`, t`change ${t`files`}`);

const OTHER: ToolPhrase = {
  did: (of) => of('title') ?? t`used ${t`its own program`}`,
  does: (of) => of('title') ?? t`using ${t`its own program`}`,
  wants: t`use ${t`its own program`}`,
};

/** What an ACP agent does in its own program, under the names that it reports. */
const PROGRAM: Readonly<Record<string, ToolPhrase>> = {
  mind__think: { ...OTHER, did: t`thought`, does: t`thinking` },
  mind__plan: { ...OTHER, did: t`made a plan`, does: t`thinking` },
  mind__read: READS,
  mind__search: READS,
  mind__edit: CHANGES,
  mind__delete: CHANGES,
  mind__move: CHANGES,
  mind__execute: { did: ran, does: running, wants: inProgram(t`run a command`) },
  mind__fetch: titled(t`read a page on ${t`the web`}`, t`reading a page of ${t`the web`}`, t`read web pages`),
  mind__other: OTHER,
};

/** By the tool's name. A test compares it with the tools of the relay. */
export const TOOL_PHRASES: Readonly<Record<string, ToolPhrase>> = {
  ...TEAM,
  ...SCHEDULE,
  ...PROJECTS,
  ...FILES,
  ...SHELL_AND_WEB,
  ...PROGRAM,
};

/** The MCP server and the tool's name on it; null: not a tool of an MCP server. */
export function mcpToolOf(name: string): { readonly server: string; readonly tool: string } | null {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

/** For a tool that the table does not have: of an MCP server, or of a newer relay. */
function otherPhrase(name: string): ToolPhrase {
  if (name.startsWith(MIND_PREFIX)) return OTHER;
  const { tool, server } = mcpToolOf(name) ?? { tool: name, server: null };
  const called = server === null ? tool : t`${tool} of ${server}`;
  return { did: t`used ${called}`, does: t`using ${called}`, wants: t`use ${called}` };
}

export const phraseOf = (name: string): ToolPhrase =>
  Object.hasOwn(TOOL_PHRASES, name) ? (TOOL_PHRASES[name] ?? otherPhrase(name)) : otherPhrase(name);

export const inWords = (words: Words, of: Argument): string => (typeof words === 'string' ? words : words(of));
const WITHOUT: Argument = () => null;

/** The tool without its arguments, to follow “may always”: “read web pages”. */
export const wantsInGeneral = (name: string): string => inWords(phraseOf(name).wants, WITHOUT);
