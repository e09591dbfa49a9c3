/** Everything that can be done or gone to from anywhere, in one table: what the palette lists, and what its tests go through. Pure. */
import { displayName, type Roster } from '../../domain/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { LEAD_ID, seatNumber } from '../../domain/seat.ts';
import { PATHS, type SettingsSection } from '../routes.ts';

export type Group = 'Agents' | 'Actions' | 'Pages' | 'Settings';

export interface Command {
  readonly id: string;
  readonly group: Group;
  readonly label: string;
  /** Said beside it, smaller. */
  readonly hint?: string;
  /** Other words by which people look for it. */
  readonly words?: string;
  readonly keys?: readonly string[];
  readonly run: () => void;
}

/** What a command needs to know and to do. */
export interface Around {
  readonly roster: Roster;
  readonly leadName: string;
  readonly running: boolean;
  readonly wakesOn: boolean | null;
  readonly awake: ReadonlySet<string>;
  /** How many sleep, and how many seats are empty. */
  readonly sleepers: number;
  readonly empty: number;
  readonly go: (path: string) => void;
  readonly help: () => void;
  readonly actions: {
    wake(): Promise<void>;
    summon(): Promise<void>;
    endSession(): Promise<void>;
    rest(agentId: AgentId): Promise<void>;
    stopWakes(stopped: boolean): Promise<void>;
  };
}

/** Settings by the names that stand on the page. */
const SETTINGS: readonly (readonly [section: SettingsSection, label: string, words?: string])[] = [
  ['people', 'Your name', 'me call'],
  ['people', 'Lead’s name'],
  ['team', 'Team and seats', 'move agents colours'],
  ['minds', 'Model of the lead', 'claude ollama'],
  ['minds', 'Model of the agents', 'claude ollama'],
  ['minds', 'Longest answer', 'tokens'],
  ['minds', 'What the models read', 'context window tokens'],
  ['waking', 'What is remembered of the last conversation', 'transcript memory'],
  ['waking', 'Time to wake', 'timeout'],
  ['waking', 'Time to find a name', 'egg hatch timeout'],
  ['waking', 'Quiet before everyone sleeps', 'idle session end'],
  ['limits', 'Limits', 'wakes a day cooldown guardrails'],
  ['limits', 'Blackout hours', 'quiet hours night'],
  ['prompt', 'Wake prompt', 'template'],
  ['costs', 'Budgets', 'dollars money a day'],
  ['costs', 'Prices', 'dollars tokens'],
  ['clients', 'Other clients', 'claude code mcp credential api'],
  ['devices', 'Devices', 'phone second sync add join'],
  ['devices', 'Recovery phrase', '24 words backup'],
  ['storage', 'Storage', 'disk rebuild keep'],
  ['copies', 'Export everything', 'backup copy save'],
  ['copies', 'Import a copy', 'restore backup'],
  ['about', 'About Roost', 'version privacy'],
];

export function commandsOf(around: Around): readonly Command[] {
  const { roster, leadName, go, actions, awake, running, wakesOn } = around;
  const agents = [...roster.seats.values()].toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const action = (id: string, label: string, run: () => void, more: Partial<Command> = {}): Command => ({
    id,
    group: 'Actions',
    label,
    run,
    ...more,
  });
  const page = (id: string, label: string, path: string, more: Partial<Command> = {}): Command => ({
    id,
    group: 'Pages',
    label,
    run: () => go(path),
    ...more,
  });
  return [
    {
      id: 'agent lead',
      group: 'Agents',
      label: leadName,
      hint: 'the lead',
      keys: ['5'],
      run: () => go(PATHS.agent(LEAD_ID)),
    },
    ...agents.map((agent): Command => ({
      id: `agent ${agent.agentId}`,
      group: 'Agents',
      label: displayName(agent, roster),
      hint: awake.has(agent.agentId) ? 'awake' : 'asleep',
      ...(agent.position === null ? {} : { keys: [String(seatNumber(agent.position))] }),
      run: () => go(PATHS.agent(agent.agentId)),
    })),
    ...(around.sleepers > 0
      ? [
          action('wake', 'WAKE', () => void actions.wake(), {
            hint: 'everybody who sleeps',
            words: 'start session call',
          }),
        ]
      : []),
    ...(around.empty > 0
      ? [
          action('summon', 'SUMMON', () => void actions.summon(), {
            hint: 'somebody new into each empty seat',
            words: 'hatch egg new agent',
          }),
        ]
      : []),
    ...(running
      ? [
          action('end', 'End session', () => void actions.endSession(), {
            hint: 'everyone sleeps',
            words: 'stop quit close',
          }),
        ]
      : []),
    ...agents
      .filter(({ agentId }) => awake.has(agentId))
      .map((agent) =>
        action(
          `sleep ${agent.agentId}`,
          `Let ${displayName(agent, roster)} sleep`,
          () => void actions.rest(agent.agentId),
        ),
      ),
    ...(wakesOn === null
      ? []
      : [
          wakesOn
            ? action('stop wakes', 'Stop all wakes', () => void actions.stopWakes(true), { words: 'pause off' })
            : action('let wakes', 'Let wakes pass again', () => void actions.stopWakes(false), { words: 'on' }),
        ]),
    action('thread', 'New thread', () => go(`${PATHS.threads}/new`), { words: 'conversation group begin' }),
    action('connect', 'Connect a model', () => go(PATHS.connect), { words: 'key claude ollama api demo' }),
    action('preview', 'Preview the wake', () => go(PATHS.preview), { words: 'cost price tokens' }),
    action('keys', 'Keys and help', around.help, { keys: ['?'], words: 'shortcuts' }),
    page('hearth', 'Team', PATHS.hearth, { keys: ['G'], words: 'home hearth grid' }),
    page('threads', 'Threads', PATHS.threads),
    page('wakes', 'Wakes', PATHS.wakes(), { words: 'history who called' }),
    page('night', 'Night', PATHS.night(), { words: 'routines reminders schedule cron' }),
    page('files', 'Files', PATHS.files(null), { words: 'folders workspace' }),
    page('costs', 'Costs', PATHS.costs, { words: 'money tokens spent' }),
    ...SETTINGS.map(([section, label, words]): Command => ({
      id: `setting ${label}`,
      group: 'Settings',
      label,
      ...(words === undefined ? {} : { words }),
      run: () => go(PATHS.settings(section)),
    })),
  ];
}

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
const GROUPS: readonly Group[] = ['Agents', 'Actions', 'Pages', 'Settings'];

/** How well it fits: 0 not at all; beginnings of the label count most, then of its words, then of what it is also called. */
function fit({ label, hint = '', words = '' }: Command, asked: readonly string[]): number {
  const name = plain(label);
  const inLabel = name.split(/[^\p{L}\p{N}]+/u);
  const besides = plain(`${hint} ${words}`).split(/[^\p{L}\p{N}]+/u);
  let sum = 0;
  for (const each of asked) {
    const points = name.startsWith(each)
      ? 8
      : inLabel.some((word) => word.startsWith(each))
        ? 4
        : besides.some((word) => word.startsWith(each))
          ? 1
          : 0;
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

/** Those that fit what is typed, best first; with nothing typed, those that were used last, and then all in the table's order. */
export function found(commands: readonly Command[], typed: string, recent: readonly string[]): readonly Command[] {
  const asked = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '');
  const age = ({ id }: Command) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  if (asked.length === 0)
    return commands.filter(({ group }) => group !== 'Settings').toSorted((a, b) => age(a) - age(b));
  return commands
    .map((command) => ({ command, points: fit(command, asked) }))
    .filter(({ points }) => points > 0)
    .toSorted(
      (a, b) =>
        b.points - a.points ||
        age(a.command) - age(b.command) ||
        GROUPS.indexOf(a.command.group) - GROUPS.indexOf(b.command.group),
    )
    .map(({ command }) => command);
}
