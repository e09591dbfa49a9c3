import { t } from '../../language/t.ts';
import { useActions } from '../context.tsx';
import { useAction } from '../hooks.ts';
import { useWakesOn } from '../shell/header.tsx';
import './stop-switch.css';

/** Stops all wakes of the household at once, and allows them again. */
export function StopSwitch({
  label = t`Stop all wakes`,
  on: stoppedWords = t`Stopped: nothing wakes anybody but you. What is written waits in the inboxes.`,
  off: passingWords = t`At once, for everybody. You can still wake anybody yourself.`,
}: {
  label?: string;
  /** The hint while everything is stopped, and while it is not. */
  on?: string;
  off?: string;
}) {
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
        {label}
      </button>
      <p>{stopped ? stoppedWords : passingWords}</p>
    </div>
  );
}
