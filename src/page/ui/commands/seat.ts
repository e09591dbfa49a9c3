/**
 * The commands of one seat: for its menu in the grid and at the head of its conversation, and by
 * name in the palette.
 */
import { displayName } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { canBeWoken } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, seatNumber } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { leadNameOf } from '../../state/household.ts';
import { exportAgentFile, exportConversationFile } from '../exports/later.ts';
import { POSITIONS, seatView, type SeatView } from '../grid/seat-figure.tsx';
import { copyText } from '../parts/copyable-text.tsx';
import { TAB_TITLES } from '../portrait/titles.ts';
import { PATHS } from '../routes.ts';
import { asBeginning } from '../text/sizes.ts';
import type { Around, Command } from './command.ts';

type Here = Pick<Around, 'roost' | 'go'>;

/** `whose`: named in the palette, and not in a menu: “Lyra: Copy soul”. */
const of = (
  seat: string,
  id: string,
  label: string,
  run: () => void,
  { whose, ...more }: Partial<Command> & { readonly whose?: string } = {},
): Command => ({
  id: `${id} ${seat}`,
  group: 'actions',
  ...(whose === undefined ? { label } : { label: `${whose}: ${label}`, short: label }),
  whenTyped: true,
  run,
  ...more,
});

function ofEmpty({ roost, go }: Here, { position, state, agentId }: SeatView): Command[] {
  const { actions } = roost;
  const running = roost.live.store.getState().live !== null;
  const blocked = writingStopped(roost.info.getState());
  const seat = t`seat ${seatNumber(position)}`;
  const whose = asBeginning(seat);
  if (state === 'empty')
    return [
      of(seat, 'summon', t`Summon into this seat`, () => void actions.summon([position]), {
        whose,
        disabled: roost.pending.getState().call !== null || blocked,
        ...(running ? {} : { hint: t`Starts the session first` }),
      }),
      of(seat, 'adopt', t`Adopt from a file…`, () => go(PATHS.adopt(position)), { whose, disabled: blocked }),
    ];
  if (agentId === null) return [];
  return [of(seat, 'give up', t`Give up this egg`, () => void actions.sleep(agentId), { whose })];
}

/** All available commands of this seat, the most likely one first. */
export function seatCommands(here: Here, seat: SeatView): Command[] {
  const { roost, go } = here;
  const { actions } = roost;
  const { agent } = seat;
  if (!agent) return ofEmpty(here, seat);
  const { soul, agentId } = agent;
  const name = seat.name ?? agent.name;
  const running = roost.live.store.getState().live !== null;
  const wakeHint = !running
    ? t`Starts the session first`
    : seat.state === 'driven'
      ? t`Answers here too, beside ${seat.client?.name ?? t`a program`}`
      : seat.paused && !seat.client
        ? t`Continues where it was`
        : undefined;
  return [
    ...(canBeWoken(seat.state)
      ? [
          of(agentId, 'wake', t`Wake ${name}`, () => void actions.wake([agent]), {
            disabled: roost.pending.getState().call !== null,
            ...(wakeHint === undefined ? {} : { hint: wakeHint }),
          }),
        ]
      : []),
    ...(seat.state === 'awake' || seat.state === 'driven'
      ? [
          of(agentId, 'sleep', t`Let ${name} sleep`, () => void actions.rest(agentId), {
            whenTyped: false,
            ...(seat.client ? { hint: t`Requests of ${seat.client.name} wait` } : {}),
          }),
        ]
      : []),
    ...(seat.state === 'hatching'
      ? [of(agentId, 'sleep on', t`Let ${name} sleep on`, () => void actions.sleep(agentId), { whenTyped: false })]
      : []),
    ...ofAnybody(here, agentId, name, soul, [
      of(agentId, 'wakes', t`Wakes`, () => go(PATHS.activity('wakes', agentId)), { whose: name }),
      of(agentId, 'routines', t`Routines`, () => go(PATHS.schedule(agentId)), { whose: name }),
    ]),
    of(agentId, 'export', t`Export as a zip`, () => void exportAgentFile(roost, agentId, name), { whose: name }),
  ];
}

/**
 * For every agent with a conversation, including the lead; `more` comes before the copy commands.
 */
const ofAnybody = (
  { roost, go }: Here,
  agentId: string,
  name: string,
  soul: string,
  more: readonly Command[] = [],
): Command[] => [
  of(agentId, 'about', t`About ${name}`, () => go(PATHS.about(agentId)), {
    short: t`About`,
    words: 'who soul memory portrait wer seele gedächtnis porträt',
  }),
  of(agentId, 'inbox', t`Inbox`, () => go(PATHS.agentInbox(agentId)), {
    whose: name,
    words: 'messages mail nachrichten post',
  }),
  ...more,
  of(
    agentId,
    'export conversation',
    t`Export this conversation`,
    () => void exportConversationFile(roost, agentId, name),
    {
      whose: name,
      words: 'save download markdown speichern herunterladen',
    },
  ),
  of(agentId, 'change', `${t`Change ${name}`}…`, () => go(PATHS.change(agentId)), {
    words: 'rename',
  }),
  of(agentId, 'copy soul', t`Copy soul`, () => void copyText(roost, soul, t`${name}’s soul`), {
    whose: name,
    disabled: soul === '',
  }),
  of(
    agentId,
    'copy link',
    t`Copy link`,
    () => void copyText(roost, new URL(PATHS.agent(agentId), location.href).href, t`Link`),
    { whose: name },
  ),
];

/**
 * The tabs of an agent's page, by name: "Lyra: Costs". The menus lead to the first one, and from
 * there to the others.
 */
const tabCommands = ({ go }: Here, agentId: AgentId, name: string): Command[] =>
  TAB_TITLES.map(({ tab, title }) =>
    of(agentId, `tab ${tab}`, `${name}: ${title}`, () => go(PATHS.portrait(agentId, tab)), {
      words: 'page portrait seite porträt',
    }),
  );

/** The lead takes part in every session. It cannot be woken or put to sleep alone. */
export function leadCommands(here: Here): Command[] {
  const { roster, settings } = here.roost.household.store.getState();
  return ofAnybody(here, LEAD_ID, leadNameOf(roster, settings), roster.lead?.soul ?? '');
}

/** For the lead and every seat, each once, with the tabs of their pages. */
export function allSeatCommands(here: Here): readonly Command[] {
  const { roster } = here.roost.household.store.getState();
  const live = here.roost.live.store.getState();
  return [
    ...leadCommands(here),
    ...tabCommands(here, LEAD_ID, leadNameOf(roster, here.roost.household.store.getState().settings)),
    ...POSITIONS.flatMap((position) => {
      if (!isSeatPosition(position)) return [];
      const seat = seatView(position, roster, live);
      const { agent } = seat;
      return [
        ...seatCommands(here, seat),
        ...(agent ? tabCommands(here, agent.agentId, displayName(agent, roster)) : []),
      ];
    }),
  ];
}
