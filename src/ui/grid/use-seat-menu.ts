import { canBeWoken } from '../../domain/lifecycle.ts';
import { LEAD_ID } from '../../domain/seat.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useInfo, useLive, usePending, useRoost } from '../context.tsx';
import { exportAgentFile } from '../copies/later.ts';
import { copyText } from '../parts/copy.ts';
import type { MenuItem } from '../parts/menu.tsx';
import { PATHS, useRoute } from '../routes.ts';
import type { SeatView } from './seat-view.ts';

/** What can be done with a seat: the same in its cell and at the head of its conversation. */
export function useSeatMenu(seat: SeatView): MenuItem[] {
  const state = useRoost();
  const { go } = useRoute();
  const busy = usePending((pending) => pending.call !== null);
  const running = useLive((live) => live.live !== null);
  const blocked = useInfo(writingStopped);
  const { actions } = state;
  const { agent, agentId, position } = seat;
  const first = running ? undefined : 'Starts the session first';
  const items: MenuItem[] = [];

  if (!agent) {
    if (seat.state === 'empty')
      items.push(
        {
          label: 'Summon into this seat',
          disabled: busy || blocked,
          ...(first ? { hint: first } : {}),
          run: () => void actions.summon([position]),
        },
        {
          label: 'Adopt from a file…',
          hint: 'An agent’s zip, or a SOUL.md',
          disabled: blocked,
          run: () => go(PATHS.adopt(position)),
        },
      );
    else if (agentId !== null)
      items.push({
        label: 'Give up this egg',
        hint: 'The seat is empty again',
        run: () => void actions.sleep(agentId),
      });
    return items;
  }
  const { soul, name } = agent;
  const hint =
    first ??
    (seat.state === 'played'
      ? `To answer here too, beside ${seat.client?.name ?? 'the client'}`
      : seat.paused && !seat.client
        ? 'It goes on where it was'
        : undefined);
  if (canBeWoken(seat.state))
    items.push({
      label: `Wake ${name}`,
      disabled: busy,
      ...(hint ? { hint } : {}),
      run: () => void actions.wake([agent]),
    });
  if (seat.state === 'awake' || seat.state === 'played')
    items.push({
      label: `Put ${name} to sleep`,
      ...(seat.client ? { hint: `What ${seat.client.name} asks for is held` } : {}),
      run: () => void actions.rest(agent.agentId),
    });
  if (seat.state === 'hatching')
    items.push({ label: `Let ${name} sleep on`, run: () => void actions.sleep(agent.agentId) });
  items.push({ label: 'Show soul', run: () => go(PATHS.soul(agent.agentId)) });
  items.push({ label: 'Inbox', run: () => go(PATHS.inbox(agent.agentId)) });
  items.push({ label: 'Wakes', run: () => go(PATHS.wakes(agent.agentId)) });
  items.push({ label: 'Routines', run: () => go(PATHS.night(agent.agentId)) });
  items.push({ label: 'Copy soul', disabled: soul === '', run: () => void copyText(state, soul, `${name}’s soul`) });
  items.push({
    label: 'Copy link',
    run: () => void copyText(state, new URL(PATHS.agent(agent.agentId), location.href).href, 'Link'),
  });
  items.push({ label: 'Export as a zip', run: () => void exportAgentFile(state, agent.agentId, name) });
  return items;
}

/** The lead is there whenever a session runs; it cannot be woken or put to sleep alone. */
export function useLeadMenu(): MenuItem[] {
  const state = useRoost();
  const { go } = useRoute();
  return [
    { label: 'Show soul', run: () => go(PATHS.soul(LEAD_ID)) },
    { label: 'Inbox', run: () => go(PATHS.inbox(LEAD_ID)) },
    {
      label: 'Copy soul',
      disabled: (state.household.store.getState().roster.lead?.soul ?? '') === '',
      run: () => void copyText(state, state.household.store.getState().roster.lead?.soul ?? '', 'The lead’s soul'),
    },
    { label: 'Copy link', run: () => void copyText(state, new URL(PATHS.agent(LEAD_ID), location.href).href, 'Link') },
  ];
}
