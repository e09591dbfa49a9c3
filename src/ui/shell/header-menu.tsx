import { useActions } from '../context.tsx';
import { MoreIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { PATHS, usePlace } from '../places.ts';
import { useWakesOn } from './wakes-switch.tsx';

/** What there is beside the hearth and the conversations. */
export function HeaderMenu({ onHelp }: { onHelp: () => void }) {
  const { go } = usePlace();
  const actions = useActions();
  const on = useWakesOn();
  const items: readonly MenuItem[] = [
    { label: 'Wakes', hint: 'Who asked for whom, and what came of it', run: () => go(PATHS.wakes()) },
    { label: 'Night', hint: 'What your agents do by themselves', run: () => go(PATHS.night()) },
    { label: 'Costs', hint: 'Tokens and money, today and before', run: () => go(PATHS.costs) },
    on === false
      ? { label: 'Let wakes pass again', hint: 'All wakes are stopped now', run: () => void actions.stopWakes(false) }
      : {
          label: 'Stop all wakes',
          hint: 'At once; only you can wake anybody then',
          disabled: on === null,
          run: () => void actions.stopWakes(true),
        },
    { label: 'Keys and help', run: onHelp },
  ];
  return (
    <MenuButton label="More places" items={items}>
      <MoreIcon />
    </MenuButton>
  );
}
