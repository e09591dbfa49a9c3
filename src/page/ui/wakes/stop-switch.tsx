import { t } from '../../language/t.ts';
import { useActions } from '../context.tsx';
import { useWakesOn } from '../shell/header.tsx';
import './stop-switch.css';
import { useAction } from '../design/use-action.ts';

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
    <div className={`pad-6 round stack gap-4 ${stopped ? 'warn-box' : 'panel framed'}`}>
      <button
        type="button"
        role="switch"
        aria-checked={stopped}
        aria-disabled={busy || on === null}
        className="switch inline-flex touchable text-start no-pad plain-button middle gap-5 text-3 bold"
        onClick={turn}
      >
        <span className="switch-knob relative framed-strong rounded fixed ground-3" aria-hidden="true" />
        {t`Pause all`}
      </button>
      <p className={`text-2 leading-4 ${stopped ? 'warn' : 'ink-3'}`}>
        {stopped
          ? t`Paused. Only you can wake agents.`
          : t`Pauses all routines, reminders, scripts and agent-to-agent wakes. Your own WAKE still works.`}
      </p>
    </div>
  );
}
