/** The ways to wake only some, in the small menu beside the big button and in the palette. */
import { displayName, emptySeats } from '../../../shared/domain/agent.ts';
import { canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { groupsIn } from '../../state/groups.ts';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import type { Around, Command } from './command.ts';

/** To wake those of each group who sleep. */
export function toGroups({ roost }: Pick<Around, 'roost'>): Command[] {
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
        words: t`group team`,
        disabled: roost.pending.getState().call !== null,
        run: () => void roost.actions.wake(asleep),
      },
    ];
  });
}

/** The ways to wake that the big button does not take: its small menu. */
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
            free.length === 1 ? t`Summon into the empty seat` : t`Summon into ${plural(free.length, 'empty seat')}`,
            () => void roost.actions.summon(free),
            t`Those who sleep sleep on`,
          ),
        ]),
  ];
}
