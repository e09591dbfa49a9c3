/**
 * All global commands. The palette, the header's menu, the keys, their sheet and the tests read
 * this table. To add a command, add a row.
 */
import { displayName, emptySeats } from '../../../shared/domain/agent.ts';
import { bigButton, canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, LEAD_POSITION, seatNumber } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { groupsIn } from '../../state/groups.ts';
import { authorName, leadNameOf } from '../../state/household.ts';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { hasFound, nextFound } from '../palette/found-bar.tsx';
import { withinOf } from '../palette/typed-ahead.ts';
import type { Around, Command } from './command.ts';

// Commands that wake only some agents, for the small menu beside the big button and for the
// palette.

/** Wakes the sleeping members of a group. */
function toGroups({ roost }: Pick<Around, 'roost'>): Command[] {
  const household = roost.household.store.getState();
  const { roster } = household;
  const live = roost.live.store.getState().live;
  return groupsIn(household).flatMap(({ groupId, name, agentIds }): Command[] => {
    const asleep = [...roster.seats]
      .filter(
        ([position, agent]) =>
          isSeatPosition(position) &&
          agentIds.includes(agent.agentId) &&
          canBeWoken(lifecycleOf(agent, position, live)),
      )
      .toSorted(([a], [b]) => a - b)
      .map(([, agent]) => agent);
    if (asleep.length === 0) return [];
    return [
      {
        id: `wake group ${groupId}`,
        group: 'actions',
        label: t`Wake ${name}`,
        short: t`Wake ${name} · ${asleep.length}`,
        hint: asleep.map((agent) => displayName(agent, roster)).join(', '),
        words: 'group team gruppe',
        disabled: roost.pending.getState().call !== null,
        run: () => void roost.actions.wake(asleep),
      },
    ];
  });
}

/** The kinds of wake that the big button does not offer: its small menu. */
export function wakeWays({ roost, go }: Pick<Around, 'roost' | 'go'>): readonly Command[] {
  const { roster } = roost.household.store.getState();
  const births = roost.live.store.getState().live?.births;
  const disabled = roost.pending.getState().call !== null;
  const free = emptySeats(roster).filter((position) => !births?.has(position));
  const way = (id: string, label: string, run: () => void, hint?: string): Command => ({
    ...{ id, group: 'actions', label, disabled, run },
    ...(hint === undefined ? {} : { hint }),
  });
  return [
    way('wake some', t`Wake only some…`, () => go(PATHS.wakeSome)),
    ...toGroups({ roost }),
    ...(free.length === 0
      ? []
      : [
          way(
            'summon more',
            t`Summon into ${plural(free.length, 'empty seat')}`,
            () => void roost.actions.summon(free),
            t`Sleeping agents stay asleep`,
          ),
        ]),
  ];
}

/** A row of the table. Functions are evaluated on use. */
interface Row extends Omit<Command, 'label' | 'run'> {
  readonly label: string | ((around: Around) => string);
  /** Text for the sheet of keys, if the label is not enough. */
  readonly does?: string;
  /** False: there is nothing to act on now. */
  readonly when?: (around: Around) => boolean;
  readonly run: (around: Around) => void;
}

const live = ({ roost }: Around) => roost.live.store.getState().live;
const wakesOn = ({ roost }: Around): boolean | null => {
  const limits = roost.limits.query.store.getState();
  return limits.kind === 'ready' ? limits.value.effective.wakes_enabled : null;
};
const somebodySleeps = ({ roost }: Around): boolean =>
  bigButton(roost.household.store.getState().roster, roost.live.store.getState().live, null).kind === 'wake';
/** The next conversation with unread messages, or with -1 the previous one. */
function nextNew({ roost, route, go }: Around, step: 1 | -1): void {
  const { counts } = roost.unread.store.getState();
  const { seats } = roost.household.store.getState().roster;
  const order = [LEAD_ID, ...[...seats].toSorted(([a], [b]) => a - b).map(([, { agentId }]) => agentId)];
  const from = order.indexOf(route.kind === 'agent' || route.kind === 'portrait' ? route.agentId : LEAD_ID);
  const next = order
    .map((_, i) => order[(from + step * (i + 1) + order.length * 2) % order.length] ?? LEAD_ID)
    .find((agentId) => (counts.get(agentId) ?? 0) > 0);
  if (next !== undefined) go(PATHS.agent(next));
}

/** The agent of the open conversation. */
function withWhom({ roost, route }: Around): string {
  const { roster, settings } = roost.household.store.getState();
  return route.kind === 'agent' ? authorName(route.agentId, roster, settings) : '';
}

function toFound({ go }: Around, step: 1 | -1): void {
  const path = nextFound(step);
  if (path !== null) go(path);
}

/** Leaves a full-page view, or a conversation for the team. */
function back({ route, go }: Around): void {
  if (route.kind === 'portrait' || (route.kind === 'agent' && route.over !== null)) go(PATHS.agent(route.agentId));
  else if (route.kind === 'project') go(route.over === null ? PATHS.projects : PATHS.project(route.projectId));
  else if (route.kind !== 'hearth') go(PATHS.hearth);
}

const page = (id: string, label: Row['label'], path: string, more: Partial<Row> = {}): Row => ({
  id,
  group: 'pages',
  label,
  run: ({ go }) => go(path),
  ...more,
});
const action = (id: string, label: Row['label'], run: Row['run'], more: Partial<Row> = {}): Row => ({
  id,
  group: 'actions',
  label,
  run,
  ...more,
});

const ROWS: readonly Row[] = [
  action('find', t`Find anything`, ({ open }) => open('palette'), {
    hint: t`Agents, tasks, files, settings, messages`,
    keys: ['Ctrl', 'K'],
    menu: true,
  }),
  action('find said', t`Find messages`, ({ open }) => open('palette'), {
    keys: ['/'],
  }),
  action(
    'find here',
    (around) =>
      around.route.kind === 'threads' ? t`Find in this thread` : t`Find in the conversation with ${withWhom(around)}`,
    ({ open }) => open('find'),
    {
      words: 'search said suchen gesagt',
      does: t`Find in the open conversation or thread`,
      keys: ['F'],
      when: ({ route }) => withinOf(route) !== null,
    },
  ),
  action('found next', t`Next result`, (around) => toFound(around, 1), {
    words: 'search result suche ergebnis',
    keys: ['N'],
    when: hasFound,
  }),
  action('found before', t`Previous result`, (around) => toFound(around, -1), {
    words: 'search result previous suche ergebnis vorige',
    keys: ['P'],
    when: hasFound,
  }),
  action('wake', 'WAKE', ({ roost }) => void roost.actions.wake(), {
    hint: t`everyone who sleeps`,
    words: 'start session call starten sitzung rufen',
    when: somebodySleeps,
  }),
  action('wake some', t`Wake only some…`, ({ go }) => go(PATHS.wakeSome), {
    words: 'choose group auswählen gruppe',
    when: somebodySleeps,
  }),
  action('summon', 'SUMMON', ({ roost }) => void roost.actions.summon(), {
    words: 'hatch egg new agent schlüpfen ei neuer',
    when: ({ roost }) => emptySeats(roost.household.store.getState().roster).length > 0,
  }),
  action('end', t`End session`, ({ roost }) => void roost.actions.endSession(), {
    hint: t`everyone sleeps`,
    words: 'stop quit close stopp ende schließen',
    when: (around) => live(around) !== null,
  }),
  action('stop wakes', t`Pause all`, ({ roost }) => void roost.actions.stopWakes(true), {
    hint: t`Only you can wake agents`,
    words: 'pause off aus',
    menu: true,
    when: (around) => wakesOn(around) !== false,
  }),
  action('let wakes', t`Resume all`, ({ roost }) => void roost.actions.stopWakes(false), {
    words: 'on',
    menu: true,
    when: (around) => wakesOn(around) === false,
  }),
  action('thread', t`Begin a thread`, ({ go }) => go(PATHS.newThread()), {
    words: 'conversation group begin gespräch gruppe beginnen',
  }),
  action('connect', t`Connect a model`, ({ go }) => go(PATHS.connect), {
    words: 'key claude ollama api demo schlüssel',
  }),
  action('preview', t`Preview the wake`, ({ go }) => go(PATHS.preview), { words: 'cost price tokens kosten preis' }),
  action('write', t`Write a message`, ({ focus }) => focus('composer'), {
    words: 'compose say talk verfassen sagen reden',
    keys: ['C'],
  }),
  action('next new', t`Next with something new`, (around) => nextNew(around, 1), {
    words: 'unread',
    keys: [']'],
    whenTyped: true,
  }),
  action('new before', t`Previous with something new`, (around) => nextNew(around, -1), {
    words: 'unread',
    keys: ['['],
    whenTyped: true,
  }),
  page('hearth', t`Team`, PATHS.hearth, {
    words: 'home hearth grid start herd plätze',
    keys: ['G'],
    run: ({ focus }) => focus('grid'),
  }),
  action('everyone', t`Ask everyone`, ({ go }) => go(PATHS.everyone), {
    hint: t`One question, an answer from each`,
    words: 'all team compare answers alle Team vergleichen Antworten',
    menu: true,
  }),
  page('threads', t`Threads`, PATHS.threads, { words: 'conversations groups gespräche gruppen', menu: true }),
  page('projects', t`Projects`, PATHS.projects, {
    words: 'board kanban tasks work aufgaben arbeit',
    keys: ['B'],
  }),
  action('new project', t`New project`, ({ go }) => go(PATHS.newProject), { words: 'board kanban begin beginnen' }),
  page('inbox', t`Inbox`, PATHS.inbox, {
    words: 'approvals yes no needs review unread freigaben ja nein prüfung ungelesen',
    keys: ['Y'],
  }),
  page('schedule', t`Schedule`, PATHS.schedule(), {
    words: 'routines reminders schedule cron scripts routinen erinnerungen zeitplan skripte',
  }),
  page('activity', t`Activity`, PATHS.activity(), {
    words: 'wakes runs tools calls log history weckrufe läufe werkzeuge aufrufe protokoll verlauf',
    menu: true,
  }),
  page('costs', t`Costs`, PATHS.activity('costs'), {
    words: 'money tokens spent Geld Tokens ausgegeben',
    menu: true,
  }),
  page('files', t`Files`, PATHS.files(null), {
    words: 'folders workspace ordner arbeitsplatz',
    menu: true,
  }),
  page('move in', t`Move in from another product`, PATHS.moveIn, {
    hint: t`Conversations of ChatGPT and others`,
    words: 'import chatgpt claude letta openclaw export migrate importieren umzug umziehen',
  }),
  page('settings', t`Settings`, PATHS.settings(), { words: 'options preferences optionen vorlieben', menu: true }),
  action('keys', t`Keys and help`, ({ open }) => open('keys'), {
    keys: ['?'],
    words: 'shortcuts',
    menu: true,
  }),
  action('back', t`Back`, back, { keys: ['Esc'], whenTyped: true }),
];

const commandOf = (row: Row, around: Around): Command => {
  const { label, run } = row;
  return {
    ...row,
    label: typeof label === 'string' ? label : label(around),
    // Disabled while it is unknown whether wakes are stopped.
    ...(row.id === 'stop wakes' ? { disabled: wakesOn(around) === null } : {}),
    run: () => run(around),
  };
};

/** Opens the conversation with each agent, by seat number. */
function toAgents({ roost, go }: Around): Command[] {
  const { roster, settings } = roost.household.store.getState();
  const awake = roost.live.store.getState().live?.awake;
  return [
    {
      id: 'agent lead',
      group: 'agents',
      label: leadNameOf(roster, settings),
      hint: t`the lead`,
      keys: [String(seatNumber(LEAD_POSITION))],
      run: () => go(PATHS.agent(LEAD_ID)),
    },
    ...[...roster.seats]
      .toSorted(([a], [b]) => a - b)
      .map(([position, agent]): Command => ({
        id: `agent ${agent.agentId}`,
        group: 'agents',
        label: displayName(agent, roster),
        hint: awake?.has(agent.agentId) ? t`awake` : t`asleep`,
        keys: [String(seatNumber(position))],
        run: () => go(PATHS.agent(agent.agentId)),
      })),
  ];
}

/** All available commands, agents first. `seat.ts` has the commands of a single agent. */
export const commandsOf = (around: Around): readonly Command[] => [
  ...toAgents(around),
  ...toGroups(around),
  ...ROWS.filter(({ when }) => when?.(around) ?? true).map((row) => commandOf(row, around)),
];

/** Keys of fields, menus and the grid, which handle them themselves. */
const OF_PARTS: readonly ShownKeys[] = [
  { keys: ['1', '…', '9'], does: t`Go to a seat` },
  { keys: ['←', '→', '↑', '↓'], does: t`Move between seats` },
  { keys: ['Alt', '←', '→', '↑', '↓'], does: t`Move the agent to another seat` },
  { keys: ['M'], does: t`Menu of a seat` },
  { keys: ['Alt', '←', '→'], does: t`Move a task to the next column` },
  { keys: ['J', 'K'], does: t`Next and previous file or change of a review` },
  { keys: ['C'], does: t`Comment on a line of a review` },
  { keys: ['A'], does: t`Accept the criteria of a review` },
  { keys: ['M'], does: t`Merge a review` },
  { keys: ['Enter'], does: t`Open a seat; in a field: send` },
  { keys: ['Shift', 'Enter'], does: t`A new line` },
  { keys: ['↑'], does: t`In an empty field: your last message` },
];

export interface ShownKeys {
  readonly keys: readonly string[];
  readonly does: string;
}

/** The sheet: what each key does. */
export const KEY_SHEET: readonly ShownKeys[] = [
  ...ROWS.flatMap(({ keys, does, label }) =>
    keys ? [{ keys, does: does ?? (typeof label === 'string' ? label : '') }] : [],
  ),
  ...OF_PARTS,
];
