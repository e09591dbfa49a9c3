import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { trayOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { useWaitingCount } from '../hooks.ts';
import './needs.css';

/**
 * The number of things that need the person, in the header of every page. A press opens them.
 * Renders nothing if there are none.
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
