/**
 * Toolsets: the tools agents have besides talking, grouped into sets, and which grant applies to
 * which call. Pure.
 */

/** `off`: the tool is not offered; `ask`: each call waits for the person; `allow`: calls run. */
export const GRANTS = ['off', 'ask', 'allow'] as const;
export type Grant = (typeof GRANTS)[number];

/**
 * Tools that a model's provider executes in the middle of an answer. Nobody can be asked before
 * such a call, so with `ask` they are not offered.
 */
export const PROVIDER_TOOLS = ['web_search', 'web_fetch'] as const;

/** Tools whose every call asks the person, even if their set is allowed. */
export const ASKING_TOOLS: readonly string[] = ['wake_script', 'accept_script', 'choose_name', 'write_soul'];

/** All tools that need a grant, by toolset. */
export const TOOLSETS = {
  team: [
    'message_agent',
    'wake_agent',
    'message_human',
    'read_inbox',
    'list_team',
    'wake_limits',
    'go_to_sleep',
    'put_to_sleep',
    'create_thread',
    'add_participant',
    'remove_participant',
    'send_message_to_thread',
    'close_thread',
    'list_threads',
    'read_thread',
    'wait_for_message',
    'wait_for_mention',
    'wait_for_agent',
    'search_conversations',
    'memory',
    'remember',
    'recall',
  ],
  schedule: [
    'wake_later',
    'wake_schedule',
    'wake_script',
    'wake_cancel',
    'wake_list',
    'list_my_routines',
    'propose_routine',
  ],
  projects: [
    'get_my_projects',
    'get_ready_tasks',
    'get_task_context',
    'claim_task',
    'release_task',
    'comment_on_task',
    'create_task',
    'transition_task',
    'meet_criterion',
    'open_pull_request',
    'read_skill',
    'spawn_executor',
    'execute_task',
  ],
  files: [
    'list_files',
    'read_file',
    'write_file',
    'edit_file',
    'move_file',
    'delete_file',
    'search_files',
    'view_image',
  ],
  shell: ['run_command', 'read_output', 'stop_command'],
  web: ['fetch_page', ...PROVIDER_TOOLS],
  /** The tools of connected MCP servers; see `MCP_PREFIX`. */
  attached: [],
  /**
   * Actions that an ACP agent asks permission for before it does them itself; see `MIND_PREFIX`.
   */
  mind: [],
} as const;

/**
 * Each call of these asks the person even if their set is allowed, because what they set up runs
 * again and again. Allowing the tool itself lifts this.
 */
const ASKED_ALWAYS: readonly string[] = ['wake_schedule', 'wake_script'];

/** Prefix of MCP servers' tools as models see them. None of Roost's own tools begins with it. */
export const MCP_PREFIX = 'mcp__';
/**
 * Prefix of actions that an ACP agent asks permission for, followed by the protocol's tool kind:
 * `mind__edit`.
 */
export const MIND_PREFIX = 'mind__';
export type Toolset = keyof typeof TOOLSETS;
export const TOOLSET_NAMES = [
  'team',
  'schedule',
  'projects',
  'files',
  'shell',
  'web',
  'attached',
  'mind',
] as const satisfies readonly Toolset[];

/** Grants that apply if nothing is set. */
export const DEFAULT_TOOLSETS: Readonly<Record<Toolset, Grant>> = {
  team: 'allow',
  schedule: 'allow',
  projects: 'allow',
  files: 'allow',
  shell: 'off',
  web: 'ask',
  attached: 'ask',
  mind: 'ask',
};

const sets = new Map<string, Toolset>(
  TOOLSET_NAMES.flatMap((toolset) => TOOLSETS[toolset].map((tool) => [tool, toolset] as const)),
);
/** Null: a tool of this name needs no grant. */
export const toolsetOf = (tool: string): Toolset | null =>
  tool.startsWith(MCP_PREFIX) ? 'attached' : tool.startsWith(MIND_PREFIX) ? 'mind' : (sets.get(tool) ?? null);

/** The grants, with all defaults filled in. */
interface Granted {
  readonly toolsets: Readonly<Record<Toolset, Grant>>;
  /** Grants of single tools, which override their sets. */
  readonly tools: Readonly<Record<string, Grant>>;
}

/** The grant of a tool. Null: the tool needs none. */
export function grantOf({ toolsets, tools }: Granted, tool: string): Grant | null {
  const toolset = toolsetOf(tool);
  if (toolset === null) return null;
  const ofSet = toolsets[toolset] === 'allow' && ASKED_ALWAYS.includes(tool) ? 'ask' : toolsets[toolset];
  return Object.hasOwn(tools, tool) ? (tools[tool] ?? ofSet) : ofSet;
}

/**
 * An agent's effective grants: its own over the household's.
 *
 * A set that the agent has its own grant for overrides the household's grants of single tools in
 * it. What is disabled for one agent is therefore not enabled again by a setting for all.
 */
export function grantsOver(
  own: {
    readonly toolsets?: { readonly [Name in Toolset]?: Grant | undefined } | undefined;
    readonly tools?: Readonly<Record<string, Grant>> | undefined;
  },
  under: Granted,
): { toolsets: Record<Toolset, Grant>; tools: Record<string, Grant> } {
  const set = own.toolsets ?? {};
  const toolGrants = Object.entries(under.tools).filter(([tool]) => {
    const toolset = toolsetOf(tool);
    return toolset === null || set[toolset] === undefined;
  });
  return {
    toolsets: {
      team: set.team ?? under.toolsets.team,
      schedule: set.schedule ?? under.toolsets.schedule,
      projects: set.projects ?? under.toolsets.projects,
      files: set.files ?? under.toolsets.files,
      shell: set.shell ?? under.toolsets.shell,
      web: set.web ?? under.toolsets.web,
      attached: set.attached ?? under.toolsets.attached,
      mind: set.mind ?? under.toolsets.mind,
    },
    tools: { ...Object.fromEntries(toolGrants), ...own.tools },
  };
}

/** Presets for what an agent can do. Team and schedule grants are not affected. */
export const PRESETS: readonly {
  readonly id: string;
  readonly toolsets: Readonly<Pick<Record<Toolset, Grant>, 'files' | 'shell'>>;
}[] = [
  { id: 'talks', toolsets: { files: 'off', shell: 'off' } },
  { id: 'folder', toolsets: { files: 'allow', shell: 'off' } },
  { id: 'asks', toolsets: { files: 'allow', shell: 'ask' } },
  { id: 'sandbox', toolsets: { files: 'allow', shell: 'allow' } },
];

/**
 * The preset that these grants amount to. Undefined: none, for example because a single tool
 * differs.
 */
export const presetOf = (granted: Granted): (typeof PRESETS)[number] | undefined =>
  PRESETS.find(({ toolsets: { files, shell } }) => {
    const all = (tools: readonly string[], grant: Grant) => tools.every((tool) => grantOf(granted, tool) === grant);
    return all(TOOLSETS.files, files) && all(TOOLSETS.shell, shell);
  });

/**
 * Grants of single tools that remain when `sets` are set. Setting a set applies to all its tools,
 * including ones that were always allowed.
 */
export function singlesBeside(
  tools: Readonly<Record<string, Grant>> | undefined,
  sets: readonly Toolset[],
): Record<string, Grant> | undefined {
  const left = Object.entries(tools ?? {}).filter(([tool]) => !sets.some((set) => set === toolsetOf(tool)));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

// What prompts say about tools. It is derived from the tools an agent is actually offered, so that
// no prompt names a missing tool or denies an existing one. Pure.

/** Template placeholders that stand for a tool: its name if it is offered, otherwise nothing. */
const NAMED_TOOLS = ['choose_name', 'write_soul', 'message_human', 'wake_cancel'] as const;

/**
 * What an agent can do with tools. Of each group, the first row whose tools are all offered is
 * used.
 */
const ABILITIES: readonly (readonly (readonly [tools: readonly string[], words: string])[])[] = [
  [
    [['read_file', 'write_file'], 'read and write files in your folder'],
    [['read_file'], 'read files in your folder'],
    [['write_file'], 'write files into your folder'],
  ],
  [[['run_command'], 'run commands']],
  [[['web_search'], 'search the web']],
  [
    [['fetch_page'], 'read web pages'],
    [['web_fetch'], 'read web pages'],
  ],
  [[['wake_agent'], 'wake the others']],
  [[['wake_later'], 'set yourself reminders']],
  [[['propose_routine'], 'propose a routine']],
  [[['create_thread'], 'open threads']],
  [[['remember', 'recall'], 'keep notes and find them again']],
  [[['search_conversations'], 'search earlier conversations']],
  [[['go_to_sleep'], 'go to sleep']],
];
const OF_MCP = 'use tools that the human has connected';
const SEARCHES = 'where you see no tool for it, search for one';

type ToolPlaceholder = (typeof NAMED_TOOLS)[number] | 'can';

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/**
 * @param offered names of the tools that the agent is offered, including those it has to search for
 */
export function toolWords(offered: ReadonlySet<string>): Readonly<Record<ToolPlaceholder, string | null>> {
  const named = (name: string) => (offered.has(name) ? `\`${name}\`` : null);
  const can = ABILITIES.flatMap((rows) => rows.find(([tools]) => tools.every((tool) => offered.has(tool)))?.[1] ?? []);
  const hasMcpTools = [...offered].some((name) => name.startsWith(MCP_PREFIX));
  const all = listed([...can, ...(hasMcpTools ? [OF_MCP] : [])]);
  return {
    choose_name: named('choose_name'),
    write_soul: named('write_soul'),
    message_human: named('message_human'),
    wake_cancel: named('wake_cancel'),
    can: all === '' || !offered.has('find_tool') ? all : `${all}; ${SEARCHES}`,
  };
}
