/** Errors of a wake or a summon that woke nobody. */
import { retold, t } from '../../language/t.ts';
import { useActions, useLive, usePending, useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';

/** Why the last wake or summon failed as a whole. */
function CallError() {
  const error = useLive((state) => state.callError);
  const { live } = useRoost();
  if (!error) return null;
  return (
    <div className="call-error flex round" role="alert">
      <p>
        <strong>{error.call === 'wake' ? t`The wake did not happen.` : t`The summoning did not happen.`}</strong>{' '}
        {retold(error.error)}
      </p>
      <button type="button" className="icon-button" aria-label={t`Dismiss`} onClick={() => live.dismissCallError()}>
        <CloseIcon />
      </button>
    </div>
  );
}

/** All woken agents are still asleep: said once, with a remedy. */
function NobodyCame() {
  const nobody = useLive((state) => state.nobodyCame);
  const busy = usePending((state) => state.call !== null);
  const actions = useActions();
  const { live } = useRoost();
  const { go } = useRoute();
  if (!nobody) return null;
  return (
    <div className="call-error flex round" role="alert">
      <p>
        {t`${<strong>{t`Nobody came: all ${nobody.agentIds.length} sleep on.`}</strong>} ${retold(nobody.reason)} Check the model, then wake them again.`}
      </p>
      <div className="call-error-ways flex">
        <button type="button" className="ghost" onClick={() => go(PATHS.connect)}>{t`Check the model`}</button>
        <button
          type="button"
          className="ghost"
          disabled={busy}
          onClick={() => void actions.wake()}
        >{t`Try again`}</button>
      </div>
      <button type="button" className="icon-button" aria-label={t`Dismiss`} onClick={() => live.dismissCallError()}>
        <CloseIcon />
      </button>
    </div>
  );
}

export default function CallTrouble() {
  return (
    <>
      <CallError />
      <NobodyCame />
    </>
  );
}
