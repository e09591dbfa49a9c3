import { t } from '../../language/t.ts';
import { SendIcon, StopIcon } from '../parts/icons.tsx';

interface Props {
  /** Something is being answered, and ends by this; null: nothing is. */
  readonly stop: (() => void) | null;
  /** There is a button to send by, and it can be pressed. */
  readonly send: boolean;
  readonly canSend: boolean;
}

/** At the end of the field: what is being answered is stopped, what was written is sent. */
export function ComposerButtons({ stop, send, canSend }: Props) {
  return (
    <>
      {stop && (
        <button
          type="button"
          className="compose-button compose-stop"
          aria-label={t`Stop`}
          title={t`Stop this answer`}
          onClick={stop}
        >
          <StopIcon />
        </button>
      )}
      {send && (
        <button
          type="submit"
          className="compose-button"
          aria-label={t`Send`}
          title={t`Send (Enter)`}
          disabled={!canSend}
        >
          <SendIcon />
        </button>
      )}
    </>
  );
}
