import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { trayOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { useWaitingCount } from '../hooks.ts';
import './needs.css';

/**
 * How much needs the person, in the header of every page; a press opens what it is. Nothing where
 * nothing does.
 */
export function NeedsChip() {
  const tray = trayOf(useRoost());
  const count = useWaitingCount();
  const isOpen = useStore(tray, ({ open }) => open === 'asked');
  if (count === '') return null;
  return (
    <button
      type="button"
      className="needs-chip"
      aria-expanded={isOpen}
      onClick={() => tray.setState({ open: isOpen ? 'put-away' : 'asked' })}
    >
      {count === '1' ? t`1 needs you` : t`${count} need you`}
    </button>
  );
}
