/** What can be done with one seat: its menu in the team and at the head of its conversation, and in the palette by name. */
import { canBeWoken } from '../../domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, seatNumber } from '../../domain/seat.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { leadNameOf } from '../../state/wake-material.ts';
import { exportAgentFile, exportConversationFile } from '../copies/later.ts';
import { POSITIONS, seatView, type SeatView } from '../grid/seat-view.ts';
import { copyText } from '../parts/copy.ts';
import { PATHS } from '../routes.ts';
import type { Around, Command } from './command.ts';

type Here = Pick<Around, 'roost' | 'go'>;

const of = (seat: string, id: string, label: string, run: () => void, more: Partial<Command> = {}): Command => ({
  id: `${id} ${seat}`,
  group: 'Actions',
  label,
  whenTyped: true,
  run,
  ...more,
});

function ofEmpty({ roost, go }: Here, { position, state, agentId }: SeatView): Command[] {
  const { actions } = roost;
  const running = roost.live.store.getState().live !== null;
  const blocked = writingStopped(roost.info.getState());
  const seat = `seat ${seatNumber(position)}`;
  if (state === 'empty')
    return [
      of(seat, 'summon', `Summon into ${seat}`, () => void actions.summon([position]), {
        short: 'Summon into this seat',
        disabled: roost.pending.getState().call !== null || blocked,
        ...(running ? {} : { hint: 'Starts the session first' }),
      }),
      of(seat, 'adopt', `Adopt from a file into ${seat}…`, () => go(PATHS.adopt(position)), {
        short: 'Adopt from a file…',
        hint: 'An agent’s zip, or a SOUL.md',
        disabled: blocked,
      }),
    ];
  if (agentId === null) return [];
  return [
    of(seat, 'give up', `Give up the egg in ${seat}`, () => void actions.sleep(agentId), {
      short: 'Give up this egg',
      hint: 'The seat is empty again',
    }),
  ];
}

/** Everything that can be done with this seat now, what one most likely wants first. */
export function seatCommands(here: Here, seat: SeatView): Command[] {
  const { roost, go } = here;
  const { actions } = roost;
  const { agent } = seat;
  if (!agent) return ofEmpty(here, seat);
  const { soul, agentId } = agent;
  const name = seat.name ?? agent.name;
  const running = roost.live.store.getState().live !== null;
  const wakeHint = !running
    ? 'Starts the session first'
    : seat.state === 'played'
      ? `To answer here too, beside ${seat.client?.name ?? 'the client'}`
      : seat.paused && !seat.client
        ? 'It goes on where it was'
        : undefined;
  return [
    ...(canBeWoken(seat.state)
      ? [
          of(agentId, 'wake', `Wake ${name}`, () => void actions.wake([agent]), {
            disabled: roost.pending.getState().call !== null,
            ...(wakeHint === undefined ? {} : { hint: wakeHint }),
          }),
        ]
      : []),
    ...(seat.state === 'awake' || seat.state === 'played'
      ? [
          of(agentId, 'sleep', `Let ${name} sleep`, () => void actions.rest(agentId), {
            whenTyped: false,
            ...(seat.client ? { hint: `What ${seat.client.name} asks for is held` } : {}),
          }),
        ]
      : []),
    ...(seat.state === 'hatching'
      ? [of(agentId, 'sleep on', `Let ${name} sleep on`, () => void actions.sleep(agentId), { whenTyped: false })]
      : []),
    ...ofAnybody(here, agentId, name, soul, [
      of(agentId, 'wakes', `Wakes of ${name}`, () => go(PATHS.wakes(agentId)), { short: 'Wakes' }),
      of(agentId, 'routines', `Routines of ${name}`, () => go(PATHS.night(agentId)), { short: 'Routines' }),
    ]),
    of(agentId, 'export', `Export ${name} as a zip`, () => void exportAgentFile(roost, agentId, name), {
      short: 'Export as a zip',
    }),
  ];
}

/** Of whoever has a conversation, the lead too; `more` stands before what is copied. */
const ofAnybody = (
  { roost, go }: Here,
  agentId: string,
  name: string,
  soul: string,
  more: readonly Command[] = [],
): Command[] => [
  of(agentId, 'soul', `Soul of ${name}`, () => go(PATHS.soul(agentId)), { short: 'Show soul', words: 'who portrait' }),
  of(agentId, 'inbox', `Inbox of ${name}`, () => go(PATHS.inbox(agentId)), { short: 'Inbox', words: 'messages mail' }),
  ...more,
  of(
    agentId,
    'export conversation',
    `Export the conversation with ${name}`,
    () => void exportConversationFile(roost, agentId, name),
    {
      short: 'Export this conversation',
      hint: 'As a text to read, with its pictures and files',
      words: 'save download markdown',
    },
  ),
  of(agentId, 'change', `Change ${name}…`, () => go(PATHS.change(agentId)), {
    hint: 'Name, colour, face, model',
    words: 'rename',
  }),
  of(agentId, 'copy soul', `Copy the soul of ${name}`, () => void copyText(roost, soul, `${name}’s soul`), {
    short: 'Copy soul',
    disabled: soul === '',
  }),
  of(
    agentId,
    'copy link',
    `Copy the link to ${name}`,
    () => void copyText(roost, new URL(PATHS.agent(agentId), location.href).href, 'Link'),
    { short: 'Copy link' },
  ),
];

/** The lead is there whenever a session runs; it cannot be woken or put to sleep alone. */
export function leadCommands(here: Here): Command[] {
  const { roster, settings } = here.roost.household.store.getState();
  return ofAnybody(here, LEAD_ID, leadNameOf(roster, settings), roster.lead?.soul ?? '');
}

/** Of the lead and every seat, each once. */
export function allSeatCommands(here: Here): readonly Command[] {
  const { roster } = here.roost.household.store.getState();
  const live = here.roost.live.store.getState();
  return [
    ...leadCommands(here),
    ...POSITIONS.flatMap((position) =>
      isSeatPosition(position) ? seatCommands(here, seatView(position, roster, live)) : [],
    ),
  ];
}
