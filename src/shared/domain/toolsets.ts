/**
 * What agents can do besides talk, in sets, and how far the person lets them: which grant holds for
 * which call. Pure.
 */

/** `off`: it is not offered at all; `ask`: each call waits for the person; `allow`: it is run. */
export const GRANTS = ['off', 'ask', 'allow'] as const;
export type Grant = (typeof GRANTS)[number];

/**
 * What a model's provider carries out by itself, in the middle of an answer: nobody can be asked
 * before it, so `ask` leaves it out.
 */
export const PROVIDER_TOOLS = ['web_search', 'web_fetch'] as const;

/** The person is asked about each call of these, also where their set is allowed. */
export const ASKING_TOOLS: readonly string[] = ['wake_script', 'accept_script'];

/** Every tool that a grant is for, by its set. */
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
  /** What servers that the person has attached offer, whatever that is: see `ATTACHED_PREFIX`. */
  attached: [],
  /**
   * What a mind that is a program of its own asks for before it does it itself: see `MIND_PREFIX`.
   */
  mind: [],
} as const;

/**
 * Of these each call waits for the person also where its set is let, unless they have let the tool
 * itself: what it sets runs again and again.
 */
const ASKED_ALWAYS: readonly string[] = ['wake_schedule', 'wake_script'];

/**
 * Under this the tools of attached servers are known to minds; none of Roost’s own begins with it.
 */
export const ATTACHED_PREFIX = 'mcp__';
/**
 * Under this stands what a program that is an agent's mind asks for; after it the kind, as its
 * protocol has it: `mind__edit`.
 */
export const MIND_PREFIX = 'mind__';
export type Toolset = keyof typeof TOOLSETS;
export const TOOLSET_NAMES = [
  'team',
  'schedule',
  'files',
  'shell',
  'web',
  'attached',
  'mind',
] as const satisfies readonly Toolset[];

/** What holds where nothing is set. */
export const DEFAULT_TOOLSETS: Readonly<Record<Toolset, Grant>> = {
  team: 'allow',
  schedule: 'allow',
  files: 'allow',
  shell: 'off',
  web: 'ask',
  attached: 'ask',
  mind: 'ask',
};

const sets = new Map<string, Toolset>(
  TOOLSET_NAMES.flatMap((toolset) => TOOLSETS[toolset].map((tool) => [tool, toolset] as const)),
);
/** Null: no grant is for a tool of this name. */
export const toolsetOf = (tool: string): Toolset | null =>
  tool.startsWith(ATTACHED_PREFIX) ? 'attached' : tool.startsWith(MIND_PREFIX) ? 'mind' : (sets.get(tool) ?? null);

/** What was set, with every default filled in. */
interface Granted {
  readonly toolsets: Readonly<Record<Toolset, Grant>>;
  /** Of single tools, over their sets. */
  readonly tools: Readonly<Record<string, Grant>>;
}

/** How far the person lets a tool be used; null: no grant is for it. */
export function grantOf({ toolsets, tools }: Granted, tool: string): Grant | null {
  const toolset = toolsetOf(tool);
  if (toolset === null) return null;
  const ofSet = toolsets[toolset] === 'allow' && ASKED_ALWAYS.includes(tool) ? 'ask' : toolsets[toolset];
  return Object.hasOwn(tools, tool) ? (tools[tool] ?? ofSet) : ofSet;
}

/**
 * What holds for an agent: its own over the household's. A set that the agent has of its own stands
 * over what the household says of single tools in it: what is switched off for one agent is not let
 * in again by what is set for all.
 */
export function grantsOver(
  own: {
    readonly toolsets?: { readonly [Name in Toolset]?: Grant | undefined } | undefined;
    readonly tools?: Readonly<Record<string, Grant>> | undefined;
  },
  under: Granted,
): { toolsets: Record<Toolset, Grant>; tools: Record<string, Grant> } {
  const set = own.toolsets ?? {};
  const left = Object.entries(under.tools).filter(([tool]) => {
    const toolset = toolsetOf(tool);
    return toolset === null || set[toolset] === undefined;
  });
  return {
    toolsets: {
      team: set.team ?? under.toolsets.team,
      schedule: set.schedule ?? under.toolsets.schedule,
      files: set.files ?? under.toolsets.files,
      shell: set.shell ?? under.toolsets.shell,
      web: set.web ?? under.toolsets.web,
      attached: set.attached ?? under.toolsets.attached,
      mind: set.mind ?? under.toolsets.mind,
    },
    tools: { ...Object.fromEntries(left), ...own.tools },
  };
}

/**
 * A grant for all that an agent can do, in one choice. What agents say to each other and what is
 * due are left as they are.
 */
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
 * The choice that these grants come to; undefined: none, as where a single tool goes by another.
 */
export const presetOf = (granted: Granted): (typeof PRESETS)[number] | undefined =>
  PRESETS.find(({ toolsets: { files, shell } }) => {
    const all = (tools: readonly string[], grant: Grant) => tools.every((tool) => grantOf(granted, tool) === grant);
    return all(TOOLSETS.files, files) && all(TOOLSETS.shell, shell);
  });

/**
 * Grants of single tools that stand when these sets are set: who sets one means all that is in it,
 * what was let for always too.
 */
export function singlesBeside(
  tools: Readonly<Record<string, Grant>> | undefined,
  sets: readonly Toolset[],
): Record<string, Grant> | undefined {
  const left = Object.entries(tools ?? {}).filter(([tool]) => !sets.some((set) => set === toolsetOf(tool)));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

// What prompts say of tools. All of it is made here, from the tools that an agent is really
// offered, so that no prompt names a tool that is not there, or denies one that is. Pure.

/** Placeholders of templates that stand for a tool: its name where it is offered, else nothing. */
const NAMED_TOOLS = ['choose_name', 'write_soul', 'message_human', 'wake_cancel'] as const;

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

type ToolPlaceholder = (typeof NAMED_TOOLS)[number] | 'can';

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
