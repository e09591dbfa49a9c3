import { t } from '../../language/t.ts';
import { useActions } from '../context.tsx';
import { useAction } from '../hooks.ts';
import { useWakesOn } from '../shell/header.tsx';
import './stop-switch.css';

/** Pauses all wakes of the household but the person's, and lets them resume. */
export function StopSwitch() {
  const on = useWakesOn();
  const actions = useActions();
  const { busy, act } = useAction();
  const stopped = on === false;
  const turn = () => {
    if (on !== null) act(() => actions.stopWakes(!stopped));
  };
  return (
    <div className="stop-switch" data-stopped={stopped}>
      <button
        type="button"
        role="switch"
        aria-checked={stopped}
        aria-disabled={busy || on === null}
        className="switch"
        onClick={turn}
      >
        <span className="switch-knob" aria-hidden="true" />
        {t`Pause all`}
      </button>
      <p>
        {stopped
          ? t`Paused. Only you can wake agents.`
          : t`Pauses all routines, reminders, scripts and agent-to-agent wakes. Your own WAKE still works.`}
      </p>
    </div>
  );
}
